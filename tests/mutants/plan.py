"""Which files are changed, and which programs can see it: the quickest first."""

RECOVERY = ["backoff", "board", "child_lock", "decide", "expiry_gate", "expiry_watch", "file_lock",
            "recovery", "refusals", "roster",
            "worker_registry"]
TASKS = ["allowance", "enqueue_rules", "kind_breaker", "lifecycle", "limit_tally", "move_states",
         "policy", "session"]
SQL = ["batch_claim", "batch_end", "batch_leases", "claim", "insert", "leases", "limits", "record",
       "settle", "task_admin_move", "task_change", "worker_registry", "writer"]
LUA = ["after_end", "allowance", "bury", "changes", "claiming", "clear", "dependents", "enlist",
       "exchange", "gone", "head", "held", "insert", "look", "move", "new_tasks", "orphans",
       "reclaim", "record", "records", "renew", "retire", "step", "tasks", "transactions"]

PARTS = [
    ([f"src/recovery/{name}.cpp" for name in RECOVERY],
     ["unit_tests", "sqlite_engine_tests", "sqlite_contract_tests", "simulation_tests"]),
    ([f"src/tasks/{name}.cpp" for name in TASKS],
     ["unit_tests", "sqlite_contract_tests", "worker_scenarios", "simulation_tests"]),
    ([f"src/engines/sqlite/{name}.cpp" for name in SQL + ["handfuls"]],
     ["sqlite_contract_tests", "sqlite_engine_tests", "simulation_tests"]),
    ([f"src/engines/postgres/{name}.cpp" for name in SQL],
     ["postgres_contract_tests", "postgres_interleavings", "postgres_scenarios"]),
    ([f"src/engines/redis/lua/{name}.lua" for name in LUA],
     ["redis_contract_tests", "redis_scenarios"]),
]


def programs():
    return sorted({program for _, programs in PARTS for program in programs})
