"""What is measured of a peer, all of it from outside and for all of them alike."""

import json
import math
import statistics
import time
from dataclasses import dataclass

from program import Program, Silence

PACE = 0.01  # seconds between stamped jobs, so that a worker is idle when one comes
QUICK = 5  # seconds; who is back sooner after a kill is killed a few times more


@dataclass
class Figures:
    version: str = ""
    settings: str = ""
    single: float = None  # jobs a second, like the next two
    bulk: float = None
    processed: float = None
    pick_up: list = None  # seconds, sorted
    peak_bytes: int = None
    after_kill: float = None  # seconds; infinite: not within the limit


def rate(count, seconds):
    return count / seconds if seconds else None


def enqueue_and_process(figures, start, jobs):
    """One in 25 is enqueued one by one and the rest in bulk, where the peer can do that."""
    with start("producer", 0) as producer:
        about = json.loads(producer.hear()[1])
        figures.version, figures.settings = about["version"], about["settings"]
        singles = max(jobs // 25, 1)
        figures.single = rate(singles, producer.timed(f"single {singles}"))
        figures.bulk = rate(jobs - singles, producer.timed(f"bulk {jobs - singles}"))
    waiting = jobs if figures.bulk else singles
    with start("worker", waiting) as worker:
        # Not from its start: how long an interpreter takes to begin is not the question.
        began, _ = worker.hear("ready")
        ended, _ = worker.hear("done")
        figures.processed = rate(waiting, ended - began)
        figures.peak_bytes = worker.peak_bytes()


def pick_up(figures, start, samples):
    with start("producer", 0) as producer, start("worker", 0) as worker:
        producer.hear()
        worker.hear("ready")
        for _ in range(samples):
            time.sleep(PACE)
            producer.timed("stamped")
        figures.pick_up = sorted(int(worker.hear("picked")[1].split()[1]) / 1e9
                                 for _ in range(samples))


def kill_once(start, limit):
    """Seconds from kill -9 of a worker until another one has begun its job again."""
    with start("producer", 0) as producer:
        producer.hear()
        with start("worker", 0) as first:
            first.hear("ready")
            producer.timed("sleeper")
            first.hear("began")
            with start("worker", 0) as second:
                second.hear("ready")
                killed = time.monotonic()
                first.kill()
                try:
                    return second.hear("began", limit)[0] - killed
                except Silence:
                    return math.inf


def after_kill(peer, server, limit, ours):
    """The median of three, each with a store of its own; of one, where that takes long."""
    times = []
    while len(times) < 3 and (not times or times[-1] < QUICK):
        with server() as address:
            times.append(kill_once(lambda role, jobs: Program(peer, role, address, jobs, ours),
                                   limit))
    return statistics.median(times)


def measure(peer, server, jobs, samples, ours):
    figures = Figures()
    with server() as address:
        def start(role, wanted):
            return Program(peer, role, address, wanted, ours)
        enqueue_and_process(figures, start, jobs)
        pick_up(figures, start, samples)
    return figures
