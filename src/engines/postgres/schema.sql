-- Version 1 of the tables, in the schema that the address of the store names.
-- Times are milliseconds since 1970 on the server's clock. States are the numbers of enum
-- TaskState. Names sort by their bytes ("C"), so that comparing them costs nothing.

CREATE TABLE hf.meta (
  key   text PRIMARY KEY,
  value bigint NOT NULL
);

CREATE TABLE hf.paused (
  queue text COLLATE "C" PRIMARY KEY,
  actor text NOT NULL,
  at    bigint NOT NULL
);

-- Rows are rewritten when they are claimed and when they end. Room is left in each page so that
-- renewals stay on it, and what is dead is cleaned by number, not by share of the table: a share
-- of millions of finished tasks would let the dead entries of the index of ready tasks pile up.
CREATE TABLE hf.tasks (
  id               uuid PRIMARY KEY,
  seq              bigint GENERATED ALWAYS AS IDENTITY,
  run_at           bigint NOT NULL,            -- not before; 0: ready from the beginning
  token            bigint NOT NULL DEFAULT 0,
  lease_until      bigint,
  claimed_at       bigint,
  finished_at      bigint,
  created_at       bigint NOT NULL,
  timeout          bigint NOT NULL,
  owner            uuid,                       -- the worker that has it, or had it last
  attempt          int NOT NULL DEFAULT 0,
  recoveries       int NOT NULL DEFAULT 0,
  crashes          int NOT NULL DEFAULT 0,
  max_attempts     int NOT NULL,
  state            smallint NOT NULL,
  priority         smallint NOT NULL,
  suspect          boolean NOT NULL DEFAULT false,
  cancel_requested boolean NOT NULL DEFAULT false,
  queue            text COLLATE "C" NOT NULL,
  kind             text COLLATE "C" NOT NULL,
  backoff          text,                       -- first factor longest jitter; NULL: the default
  unique_key       text COLLATE "C",
  tags             text[],
  error            text,
  cause            text,
  result           text,
  payload          text NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0.0, autovacuum_analyze_threshold = 50000,
        autovacuum_vacuum_insert_scale_factor = 0.0, autovacuum_vacuum_insert_threshold = 100000,
        autovacuum_vacuum_cost_delay = 0);

-- Claim order within a queue and kind. Only pending tasks are in it.
CREATE INDEX tasks_ready ON hf.tasks (priority, queue, kind, suspect, run_at, seq) WHERE state = 0;
-- Who runs what.
CREATE INDEX tasks_running ON hf.tasks (owner) WHERE state = 1;
-- What is kept after the end, oldest first.
CREATE INDEX tasks_finished ON hf.tasks (state, finished_at) WHERE state IN (2, 3, 4);
CREATE INDEX tasks_waiting ON hf.tasks (state) WHERE state IN (5, 6);
CREATE UNIQUE INDEX tasks_unique_key ON hf.tasks (unique_key)
  WHERE unique_key IS NOT NULL AND state IN (0, 1, 5, 6);

-- `task` waits for `on_task`. Gone when that has completed.
CREATE TABLE hf.blocks (
  on_task uuid NOT NULL,
  task    uuid NOT NULL,
  PRIMARY KEY (on_task, task)
);
CREATE INDEX blocks_task ON hf.blocks (task);

-- Transitions that cannot be derived from the task itself. A row that ends an attempt also says
-- when that attempt was claimed and by whom, so that its beginning can be derived.
CREATE TABLE hf.history (
  task       uuid NOT NULL,
  n          bigint GENERATED ALWAYS AS IDENTITY,
  from_state smallint NOT NULL,
  to_state   smallint NOT NULL,
  actor      text NOT NULL,
  reason     text NOT NULL,
  token      bigint NOT NULL,
  attempt    int NOT NULL,
  claimed_at bigint,
  worker     uuid,
  at         bigint NOT NULL,
  PRIMARY KEY (task, n)
);

CREATE TABLE hf.progress (
  task     uuid PRIMARY KEY,
  fraction double precision NOT NULL,
  text     text NOT NULL,
  at       bigint NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE hf.log (
  task    uuid NOT NULL,
  n       bigint GENERATED ALWAYS AS IDENTITY,
  at      bigint NOT NULL,
  attempt int NOT NULL,
  line    text NOT NULL,
  PRIMARY KEY (task, n)
);

-- Effects: the first value recorded for a task and key stays.
CREATE TABLE hf.effects (
  task  uuid NOT NULL,
  key   text COLLATE "C" NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (task, key)
);

CREATE TABLE hf.workers (
  id             uuid PRIMARY KEY,
  n              bigint GENERATED ALWAYS AS IDENTITY,
  host           text NOT NULL,
  pid            int NOT NULL,
  session        text,                          -- the run of the server whose lock proves its life
  lock           bigint NOT NULL,               -- that lock
  lease          bigint NOT NULL,               -- milliseconds of silence that are allowed
  lease_until    bigint NOT NULL,
  started_at     bigint NOT NULL,
  last_heartbeat bigint NOT NULL,
  heartbeat      bigint NOT NULL,               -- how often it is to be heard of
  concurrency    int NOT NULL,
  queues         text[] NOT NULL,
  kinds          text[] NOT NULL,
  holding        uuid[] NOT NULL DEFAULT '{}',  -- at the last heartbeat
  stopped_at     bigint,                        -- said goodbye
  died_at        bigint,                        -- buried
  cleared_at     bigint,                        -- nothing of it is left
  cause          text NOT NULL DEFAULT '',
  evidence       text NOT NULL DEFAULT '',
  boot           text NOT NULL,                 -- the run of its machine
  -- Whether its death was certain when it was buried, and what it left on its board, as far as the
  -- one who buried it could see that.
  proven         boolean NOT NULL DEFAULT false,
  readable       boolean NOT NULL DEFAULT false,
  restarted      boolean NOT NULL DEFAULT false,
  running        uuid[],
  running_tokens bigint[]
) WITH (fillfactor = 50);

-- What recovery did. The row comes into being in the commit of its first entry and grows with every
-- later one.
CREATE TABLE hf.reports (
  id           uuid PRIMARY KEY,
  n            bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  at           bigint NOT NULL,                 -- of its last commit
  complete     boolean NOT NULL DEFAULT false,
  gone         boolean NOT NULL DEFAULT false,  -- the sum of those that were removed
  runs         bigint NOT NULL DEFAULT 1,
  pending      bigint NOT NULL DEFAULT 0,       -- orphans by what became of them
  failed       bigint NOT NULL DEFAULT 0,
  held         bigint NOT NULL DEFAULT 0,
  cancelled    bigint NOT NULL DEFAULT 0,
  not_taken    bigint NOT NULL DEFAULT 0,
  dead_workers bigint NOT NULL DEFAULT 0,
  refused_ever bigint NOT NULL DEFAULT 0,       -- stale writes in this store when it was completed
  report       text NOT NULL                    -- JSON: everything but tasks and workers
);

CREATE TABLE hf.report_tasks (
  report       uuid NOT NULL,
  n            bigint GENERATED ALWAYS AS IDENTITY,
  task         uuid NOT NULL,
  state        smallint NOT NULL,
  attempt      int NOT NULL,
  max_attempts int NOT NULL,
  worker       uuid,
  reason       text NOT NULL,
  error        text,                            -- NULL: it was taken back
  PRIMARY KEY (report, n)
);

CREATE TABLE hf.report_workers (
  report         uuid NOT NULL,
  worker         uuid NOT NULL,
  host           text NOT NULL,
  pid            int NOT NULL,
  last_heartbeat bigint NOT NULL,
  cause          text NOT NULL,
  evidence       text NOT NULL,
  PRIMARY KEY (report, worker)
);
