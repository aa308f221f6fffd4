#!/usr/bin/env python3
"""A worker in Python: adds numbers. HOLDFAST_URL and HOLDFAST_TOKEN say where the server is."""
import json
import os
import threading
import urllib.error
import urllib.request

URL, TOKEN = os.environ["HOLDFAST_URL"].rstrip("/"), os.environ["HOLDFAST_TOKEN"]
holding = {}


def ask(path, body):
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), {
        "Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or "null")


def run(task):
    """The work itself. What it returns is kept; throwing means: try again later."""
    return {"sum": sum(task["payload"]["numbers"])}


me = ask("/v1/remote/workers", {"kinds": ["add_py"]})
path = "/v1/remote/workers/" + me["worker"]


def beat():
    while True:
        threading.Event().wait(me["heartbeat_interval_ms"] / 1000)
        ask(path + "/heartbeat", {"tasks": list(holding)})


threading.Thread(target=beat, daemon=True).start()
try:
    while True:
        for task in ask(path + "/claim", {"wait_ms": 20000})["tasks"]:
            holding[task["id"]] = task
            end = {"id": task["id"], "token": task["token"]}
            try:
                end |= {"outcome": "done", "result": run(task)}
            except Exception as error:
                end |= {"outcome": "retry", "error": repr(error)}
            ask(path + "/settle", {"settlements": [end]})
            del holding[task["id"]]
except KeyboardInterrupt:
    ask(path + "/retire", {})
