#!/usr/bin/env python3
"""A worker in Python: adds numbers. HOLDFAST_URL is the server, HOLDFAST_TOKEN a token for work."""
import contextlib, json, os, threading, time, urllib.error, urllib.request

URL = os.environ["HOLDFAST_URL"].rstrip("/") + "/v1/remote/workers"
HEADERS = {"Authorization": "Bearer " + os.environ["HOLDFAST_TOKEN"],
           "Content-Type": "application/json"}

def ask(what, body):  # again while the server or its store is away: everything can be said twice
    while True:
        headers = HEADERS | {"Holdfast-Worker-Secret": me["secret"]}
        request = urllib.request.Request(URL + what, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or "null")
        except OSError as error:
            if getattr(error, "code", 503) != 503:
                raise
            time.sleep(1)

def run(task):  # the work itself; what it returns is kept, throwing means: try again later
    return {"sum": sum(task["payload"]["numbers"])}

def work():
    for task in ask(f"/{me['worker']}/claim", {"wait_ms": 20000})["tasks"]:
        holding[task["id"]] = end = {"id": task["id"], "token": task["token"]}
        try:
            end |= {"outcome": "done", "result": run(task)}
        except Exception as error:
            end |= {"outcome": "retry", "error": repr(error)}
        ask(f"/{me['worker']}/settle", {"settlements": [end]})
        del holding[task["id"]]

def beat():
    while time.sleep(me["heartbeat_interval_ms"] / 1000) is None:
        with contextlib.suppress(urllib.error.HTTPError):  # the claim gets the same answer
            ask(f"/{me['worker']}/heartbeat", {"tasks": list(holding)})

me, holding = {"secret": ""}, {}
me = ask("", {"kinds": ["add_py"]})  # with a secret that goes with whatever this worker says
threading.Thread(target=beat, daemon=True).start()
try:
    while True:
        try:
            work()
        except urllib.error.HTTPError as error:
            if error.code != 410:
                raise
            me, holding = ask("", {"kinds": ["add_py"]}), {}  # others have what this one held
except KeyboardInterrupt:
    ask(f"/{me['worker']}/retire", {})
