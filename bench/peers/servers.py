"""Private servers on loopback ports, in a folder of their own, gone with the driver."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

POSTGRES = Path("/usr/lib/postgresql/15/bin")
# A disk, not memory: /tmp may be the latter.
PLACE = "/var/tmp"


@contextlib.contextmanager
def folder(owner=None):
    path = tempfile.mkdtemp(prefix="holdfast-peers-", dir=PLACE)
    try:
        if owner:
            shutil.chown(path, owner, owner)
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextlib.contextmanager
def running(command, port, log, ready=None):
    """The server is killed when we are, however that happens."""
    with open(log, "w") as output:
        server = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdout=output,
                                  stderr=output, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not (ready() if ready else answers(port)):
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} does not start:\n{Path(log).read_text()}")
            time.sleep(0.02)
        yield
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@contextlib.contextmanager
def sqlite(mode):
    with folder() as path:
        yield str(path / "work.db")


@contextlib.contextmanager
def redis(mode):
    """`mode` is a value of appendfsync, or "none" for a server that writes nothing to disk."""
    lasting = ["no"] if mode == "none" else ["yes", "--appendfsync", mode]
    with folder() as path:
        port = free_port()
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", str(path),
                   "--save", "", "--appendonly", *lasting]
        with running(command, port, path / "log"):
            yield f"redis://127.0.0.1:{port}"


@contextlib.contextmanager
def postgres(mode):
    """Settings are the defaults of PostgreSQL: fsync and synchronous_commit are on."""
    user = "postgres" if os.geteuid() == 0 else None
    as_user = []
    if user:  # it refuses to run as root
        account = pwd.getpwnam(user)
        as_user = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}",
                   "--clear-groups"]
    with folder(user) as path:
        port, data = free_port(), str(path / "data")
        subprocess.run([*as_user, POSTGRES / "initdb", "-D", data, "--auth=trust", "--no-sync",
                        "--username=bench", "--encoding=UTF8", "--locale=C"],
                       check=True, stdout=subprocess.DEVNULL, cwd=path)
        # Once more after the change of user, which forgets it.
        command = [*as_user, *(["--pdeathsig", "QUIT"] if user else []), POSTGRES / "postgres",
                   "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", ""]
        check = [POSTGRES / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
        with running(command, port, path / "log", lambda: subprocess.run(check).returncode == 0):
            yield f"postgres://bench@127.0.0.1:{port}/postgres"


@contextlib.contextmanager
def beanstalkd(mode):
    """`mode` is "none" for jobs in memory, or "always" for a log that is synced at every write."""
    with folder() as path:
        port = free_port()
        log = [] if mode == "none" else ["-b", str(path), "-f", "0"]
        with running(["beanstalkd", "-l", "127.0.0.1", "-p", str(port), *log], port, path / "log"):
            yield f"127.0.0.1:{port}"
