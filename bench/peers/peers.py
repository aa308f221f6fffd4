"""Who is measured, in groups of the same durability; ours comes first in each."""

from dataclasses import dataclass, field

import servers


@dataclass(frozen=True)
class Peer:
    name: str
    adapter: str
    variant: str = "-"
    address: str = "{}"  # from what the server says
    killed: bool = True  # whether the time after a kill is measured; once for each peer is enough
    node: int = 0  # the least version of Node that the pinned package runs on


@dataclass(frozen=True)
class Group:
    name: str
    server: object
    mode: str
    peers: list = field(default_factory=list)


OURS = "holdfast"

GROUPS = [
    Group("SQLite, synchronous=FULL", servers.sqlite, "FULL", [
        Peer("Holdfast", OURS, address="sqlite:{}"),
        Peer("plainjob", "plainjob.js", "FULL"),
    ]),
    Group("SQLite, synchronous=NORMAL", servers.sqlite, "NORMAL", [
        Peer("Holdfast", OURS, address="sqlite:{}?durability=crash-safe", killed=False),
        Peer("plainjob", "plainjob.js", "NORMAL", killed=False),
    ]),
    Group("PostgreSQL, fsync=on, synchronous_commit=on", servers.postgres, "on", [
        Peer("Holdfast", OURS),
        Peer("graphile-worker", "graphile_worker.js", "defaults"),
        Peer("graphile-worker, batched", "graphile_worker.js", "batched", killed=False),
        Peer("pg-boss", "pg_boss.js"),
        Peer("DBOS", "dbos.js", node=20),
    ]),
    Group("Redis, appendonly=no", servers.redis, "none", [
        Peer("Holdfast", OURS),
        Peer("BullMQ", "bullmq.js"),
        Peer("Sidekiq", "sidekiq.rb"),
        Peer("Celery", "celery_prefork.py"),
    ]),
    Group("Redis, appendonly=yes, appendfsync=always", servers.redis, "always", [
        Peer("Holdfast", OURS, killed=False),
        Peer("BullMQ", "bullmq.js", killed=False),
        Peer("Sidekiq", "sidekiq.rb", killed=False),
    ]),
    Group("beanstalkd, in memory", servers.beanstalkd, "none", [
        Peer("beanstalkd", "beanstalkd.py"),
    ]),
    Group("beanstalkd, binlog synced at every write", servers.beanstalkd, "always", [
        Peer("beanstalkd", "beanstalkd.py", killed=False),
    ]),
]

# What is not measured although it exists, for the last lines of the table.
NEWER = [
    "graphile-worker 0.18.0 needs Node 22.18; measured is the last version for less",
    "pg-boss 10 needs Node 20, 11 and later Node 22; measured is 9.0.3, for Debian's Node 18",
    "DBOS 5.3.0 needs Node 20, as does the 4.27.6 that is measured; it was not tried",
]
