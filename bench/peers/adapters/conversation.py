"""What the adapters in Python do alike: they talk with the driver (see ../conversation.md)."""

import json
import os
import signal
import sys
import time

ROLE, ADDRESS, VARIANT, WANTED = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
USUAL = {"to": "ada@example.org", "template": "welcome", "locale": "en-GB", "account": 12345}
BATCH = 1000


def say(line):
    os.write(1, f"{line}\n".encode())


def handle(payload):
    """Whether it was a usual job."""
    if "at" in payload:
        say(f"picked {time.monotonic_ns() - payload['at']}")
    elif "sleeper" in payload:
        say("began")
        time.sleep(3600)
    else:
        return True
    return False


def obey(line, one, many):
    verb, _, count = line.strip().partition(" ")
    if verb == "single":
        for _ in range(int(count)):
            one(USUAL)
    elif verb == "bulk":
        if not many:
            return "cannot"
        for done in range(0, int(count), BATCH):
            many([USUAL] * min(BATCH, int(count) - done))
    elif verb == "stamped":
        one({"at": time.monotonic_ns()})
    else:
        one({"sleeper": True})
    return "done"


def produce(version, settings, one, many=None):
    say(json.dumps({"version": version, "settings": settings}))
    for line in sys.stdin:
        say(obey(line, one, many))


def end_with_driver():
    """A thread runs this: our input ends when the driver goes away."""
    # Not through sys.stdin, whose lock a forked process would find held for ever.
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)
