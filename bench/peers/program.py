"""One running adapter: lines go in, and lines come out with the time at which they came."""

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
# Not just any Python: Celery comes from Debian, too.
INTERPRETERS = {".js": "node", ".rb": "ruby", ".py": "/usr/bin/python3"}


class AdapterFailed(Exception):
    """An adapter ended, or did not do what it was asked to."""


class Silence(AdapterFailed):
    """An adapter did not say in time what was waited for."""


class Program:
    def __init__(self, peer, role, address, jobs, ours):
        path = HERE / "adapters" / peer.adapter
        command = [INTERPRETERS[path.suffix], str(path)] if path.suffix else [str(ours)]
        self.name = f"{role} of {peer.name}"
        environment = dict(os.environ, NODE_PATH=str(BUILD / "peers" / "node_modules"),
                           PYTHONDONTWRITEBYTECODE="1")
        # In a session of its own, so that it can be killed with all its processes.
        self.process = subprocess.Popen(
            [*command, role, peer.address.format(address), peer.variant, str(jobs)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            bufsize=1, start_new_session=True, env=environment, cwd="/")
        self.lines = queue.Queue()
        self.complaints = []
        self.threads = [threading.Thread(target=self._listen, daemon=True),
                        threading.Thread(target=self._collect, daemon=True)]
        for thread in self.threads:
            thread.start()

    def _listen(self):
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line.strip()))
        self.lines.put((time.monotonic(), None))

    def _collect(self):
        for line in self.process.stderr:
            self.complaints.append(line)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self, start="", timeout=300):
        """(time, line) of the next line that begins so; others are skipped."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                at, line = self.lines.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                raise Silence(f"{self.name} did not say '{start}' within {timeout} s") from None
            if line is None:
                self.threads[1].join(10)
                raise AdapterFailed(f"{self.name} ended:\n{''.join(self.complaints)[-2000:]}")
            if line.startswith(start):
                return at, line

    def timed(self, line):
        """Seconds until it answered; None if it cannot do that."""
        began = time.monotonic()
        self.say(line)
        at, answer = self.hear()
        return at - began if answer == "done" else None

    def peak_bytes(self):
        """The most memory that its processes ever used, each counted for itself."""
        total = 0
        for status in Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError, ValueError):
                if os.getsid(int(status.parent.name)) == self.process.pid:
                    total += sum(int(line.split()[1]) * 1024
                                 for line in status.read_text().splitlines()
                                 if line.startswith("VmHWM:"))
        return total

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        for thread in self.threads:
            thread.join()
        self.process.stdin.close()
