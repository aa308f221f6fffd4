import multiprocessing
import threading

import celery
from celery.signals import worker_ready

import conversation

CONCURRENCY = 2

app = celery.Celery("bench", broker=conversation.ADDRESS)
app.conf.update(task_ignore_result=True, worker_redirect_stdouts=False)
ran = multiprocessing.Value("q", 0)  # jobs run in processes that are forked from this one


@app.task(name="job")
def job(payload):
    if conversation.handle(payload):
        with ran.get_lock():
            ran.value += 1
            if ran.value == conversation.WANTED:
                conversation.say("done")


@worker_ready.connect
def ready(**_):
    conversation.say("ready")


def main():
    if conversation.ROLE == "worker":
        threading.Thread(target=conversation.end_with_driver, daemon=True).start()
        app.worker_main(["--quiet", "worker", f"--concurrency={CONCURRENCY}", "--loglevel=ERROR"])
    else:
        conversation.produce(celery.__version__, f"prefork, concurrency {CONCURRENCY}, no results",
                             job.delay)


if __name__ == "__main__":
    main()
