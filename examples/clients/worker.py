#!/usr/bin/env python3
"""A worker in Python: adds numbers. HOLDFAST_URL and HOLDFAST_TOKEN say where the server is."""
import contextlib, json, os, threading, time, urllib.error, urllib.request

URL = os.environ["HOLDFAST_URL"].rstrip("/") + "/v1/remote/workers"
HEADERS = {"Authorization": "Bearer " + os.environ["HOLDFAST_TOKEN"],
           "Content-Type": "application/json"}

def ask(what, body):  # again while the server or its store is away: everything can be said twice
    while True:
        request = urllib.request.Request(URL + what, json.dumps(body).encode(), HEADERS)
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
        with contextlib.suppress(urllib.error.HTTPError):  # whoever claims hears of it, too
            ask(f"/{me['worker']}/heartbeat", {"tasks": list(holding)})

me, holding = ask("", {"kinds": ["add_py"]}), {}
threading.Thread(target=beat, daemon=True).start()
try:
    while True:
        try:
            work()
        except urllib.error.HTTPError as error:
            if error.code != 410:
                raise
            # After a restart of the server others have what this one held.
            me, holding = ask("", {"kinds": ["add_py"]}), {}
except KeyboardInterrupt:
    ask(f"/{me['worker']}/retire", {})
