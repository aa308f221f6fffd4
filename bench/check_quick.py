#!/usr/bin/env python3
"""Runs the bench for a few seconds and expects every number, whatever its size."""

import json
import math
import subprocess
import sys

EXPECTED = {
    "enqueue_single", "enqueue_64_threads", "enqueue_bulk", "claim_settle",
    "claim_settle_vs_delete", "pick_up_p50", "pick_up_p99", "idle_cpu", "watch_cpu",
    "heartbeat_cpu", "rss", "kill_p50", "kill_p99", "kill_max", "recovery",
    "start_up", "start_up_check", "retention_rate", "retention_file", "retention_wal",
}
CIRCUMSTANCES = {"durability", "date", "command", "cores", "kernel", "file_system",
                 "fdatasync_p50_ms"}


def faults(report):
    figures = {figure["id"]: figure for figure in report["figures"]}
    for name in sorted(EXPECTED ^ figures.keys()):
        yield f"{name} is missing or not expected"
    for name, figure in figures.items():
        for part in ("value", "reference", "ratio"):
            number = figure.get(part, 1)
            if not math.isfinite(number) or number <= 0:
                yield f"{part} of {name} is {number}"
    for name in sorted(CIRCUMSTANCES):
        if not report.get(name):
            yield f"{name} is not said"


def main():
    done = subprocess.run([sys.argv[1], "--quick", "--json"], stdout=subprocess.PIPE, check=True)
    found = list(faults(json.loads(done.stdout)))
    print("\n".join(found) if found else "every number is there")
    return 1 if found else 0


sys.exit(main())
