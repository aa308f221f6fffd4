-- Everything of ours is prefixed, because the file may be shared with the user's own tables.
-- Times are milliseconds since 1970 (wall clock), except lease_until, which is read on the clock
-- that the owner's `clock` column names. States are the numbers of enum TaskState.

CREATE TABLE holdfast_meta (
  key   TEXT PRIMARY KEY,
  value
) WITHOUT ROWID;

-- A lane is a queue, a kind and a limit key (mostly none), so that tasks carry one small number for
-- all that limits know them by, and what is held back is never in the way of what is not.
CREATE TABLE holdfast_lanes (
  lane  INTEGER PRIMARY KEY,
  queue TEXT NOT NULL,
  kind  TEXT NOT NULL,
  key   TEXT NOT NULL,                          -- empty: none
  sum   INTEGER NOT NULL,                       -- of the names; see row_sum.hpp
  UNIQUE (queue, kind, key)
);

CREATE TABLE holdfast_paused (
  queue TEXT PRIMARY KEY,
  actor TEXT NOT NULL,
  at    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE holdfast_limits (
  scope       INTEGER NOT NULL,                 -- the number of enum LimitScope
  name        TEXT NOT NULL,
  max_running INTEGER,
  tasks       INTEGER,                          -- so many in each period; NULL: no rate
  period      INTEGER,
  burst       INTEGER,
  PRIMARY KEY (scope, name)
) WITHOUT ROWID;

-- What is left in token buckets. A bucket that is full again is not kept; see token_bucket.hpp.
CREATE TABLE holdfast_buckets (
  scope   INTEGER NOT NULL,
  name    TEXT NOT NULL,                        -- never '*'
  parts   INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  full_at INTEGER NOT NULL,
  PRIMARY KEY (scope, name)
) WITHOUT ROWID;
CREATE INDEX holdfast_full_buckets ON holdfast_buckets (full_at);

CREATE TABLE holdfast_schedules (
  name       TEXT PRIMARY KEY,
  cron       TEXT NOT NULL,
  zone       TEXT NOT NULL,
  kind       TEXT NOT NULL,
  payload    TEXT NOT NULL,
  options    TEXT NOT NULL,                     -- JSON; see schedule_text.hpp
  missed     INTEGER NOT NULL,                  -- the number of enum MissedRuns
  paused     INTEGER NOT NULL,
  next       INTEGER,
  last_fired INTEGER,
  revision   INTEGER NOT NULL,
  sum        INTEGER NOT NULL                   -- of everything else, so that damage does not fire
) WITHOUT ROWID;
CREATE INDEX holdfast_due_schedules ON holdfast_schedules (next) WHERE paused = 0;

-- A number is never used again (AUTOINCREMENT), so a claim of a task that is long gone cannot be
-- taken for one of another that got its number.
CREATE TABLE holdfast_tasks (
  seq              INTEGER PRIMARY KEY AUTOINCREMENT,
  id               BLOB NOT NULL UNIQUE,
  lane             INTEGER NOT NULL,
  state            INTEGER NOT NULL,
  priority         INTEGER NOT NULL,
  run_at           INTEGER NOT NULL,            -- not before; 0: ready from the beginning
  token            INTEGER NOT NULL DEFAULT 0,
  owner            INTEGER,                     -- holdfast_workers.seq
  lease_until      INTEGER,
  claimed_at       INTEGER,
  finished_at      INTEGER,
  attempt          INTEGER NOT NULL DEFAULT 0,
  recoveries       INTEGER NOT NULL DEFAULT 0,
  crashes          INTEGER NOT NULL DEFAULT 0,
  suspect          INTEGER NOT NULL DEFAULT 0,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  created_at       INTEGER NOT NULL,
  max_attempts     INTEGER NOT NULL,
  timeout          INTEGER NOT NULL,
  backoff          TEXT,                        -- first factor longest jitter; NULL: the default
  unique_key       TEXT,
  tags             TEXT,                        -- JSON array; NULL: none
  error            TEXT,
  cause            TEXT,
  result           TEXT,
  payload_sum      INTEGER NOT NULL DEFAULT 0,  -- of what never changes; see row_sum.hpp
  row_sum          INTEGER NOT NULL DEFAULT 0,  -- of what decides what happens next; 0: finished
  payload          TEXT NOT NULL
);

-- Claim order within a lane. Only pending tasks are in it. Suspects are apart, so that all which
-- may be claimed at once are found without looking at their rows.
CREATE INDEX holdfast_ready ON holdfast_tasks (priority, lane, suspect, run_at) WHERE state = 0;
-- Who runs what, and how many of each lane.
CREATE INDEX holdfast_running ON holdfast_tasks (owner, lane) WHERE state = 1;
-- What is kept after the end, oldest first. A list of three states would say the same as the range,
-- but SQLite builds a table of the list for every row that is written.
CREATE INDEX holdfast_finished ON holdfast_tasks (state, finished_at, lane)
  WHERE state BETWEEN 2 AND 4;
CREATE INDEX holdfast_waiting ON holdfast_tasks (state) WHERE state IN (5, 6);
CREATE UNIQUE INDEX holdfast_unique ON holdfast_tasks (unique_key)
  WHERE unique_key IS NOT NULL AND state IN (0, 1, 5, 6);

-- How many tasks there are, written with every change of a state. It could be counted instead, but
-- not a million of them for everybody who looks.
CREATE TABLE holdfast_counts (
  lane  INTEGER NOT NULL,
  state INTEGER NOT NULL,
  tasks INTEGER NOT NULL,
  PRIMARY KEY (lane, state)
) WITHOUT ROWID;

-- `seq` waits for `on_seq`. Gone when that has completed.
CREATE TABLE holdfast_blocks (
  on_seq INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (on_seq, seq)
) WITHOUT ROWID;
CREATE INDEX holdfast_blocked_by ON holdfast_blocks (seq);

-- Transitions that cannot be derived from the task itself. A row that ends an attempt also says
-- when that attempt was claimed, so that its beginning can be derived.
CREATE TABLE holdfast_history (
  task       INTEGER NOT NULL,                  -- holdfast_tasks.seq
  n          INTEGER NOT NULL,
  from_state INTEGER NOT NULL,
  to_state   INTEGER NOT NULL,
  actor      TEXT NOT NULL,
  reason     TEXT NOT NULL,
  token      INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  claimed_at INTEGER,
  worker     BLOB,
  at         INTEGER NOT NULL,
  PRIMARY KEY (task, n)
) WITHOUT ROWID;

CREATE TABLE holdfast_progress (
  task     INTEGER PRIMARY KEY,
  fraction REAL NOT NULL,
  text     TEXT NOT NULL,
  at       INTEGER NOT NULL
);

CREATE TABLE holdfast_log (
  task    INTEGER NOT NULL,
  n       INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  line    TEXT NOT NULL,
  PRIMARY KEY (task, n)
) WITHOUT ROWID;

-- Effects: the first value recorded for a task and key stays.
CREATE TABLE holdfast_effects (
  task  INTEGER NOT NULL,
  key   TEXT NOT NULL,
  value TEXT NOT NULL,
  sum   INTEGER NOT NULL,                       -- of all of it; see row_sum.hpp
  PRIMARY KEY (task, key)
) WITHOUT ROWID;

-- What a transaction has beside its task. There is no row before its first step.
CREATE TABLE holdfast_transactions (
  task          INTEGER PRIMARY KEY,            -- holdfast_tasks.seq
  state         TEXT NOT NULL,
  reason        TEXT NOT NULL,                  -- why it is in this state; empty: the usual way
  data          TEXT NOT NULL,                  -- JSON
  error         TEXT NOT NULL,                  -- of the last failure in this state
  failures      INTEGER NOT NULL,
  began_at      INTEGER NOT NULL,
  entered_at    INTEGER NOT NULL,
  progressed_at INTEGER NOT NULL
);

CREATE TABLE holdfast_moves (
  task       INTEGER NOT NULL,
  n          INTEGER NOT NULL,
  from_state TEXT NOT NULL,
  to_state   TEXT NOT NULL,
  reason     TEXT NOT NULL,
  token      INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  PRIMARY KEY (task, n)
) WITHOUT ROWID;

-- The first value that is recorded for a series and ordinal stays.
CREATE TABLE holdfast_ledger (
  task    INTEGER NOT NULL,
  series  TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  value   TEXT NOT NULL,
  PRIMARY KEY (task, series, ordinal)
) WITHOUT ROWID;

-- Messages that were decided on and are not confirmed by the broker yet.
CREATE TABLE holdfast_outbox (
  n       INTEGER PRIMARY KEY,
  task    INTEGER NOT NULL,
  queue   TEXT NOT NULL,
  id      TEXT NOT NULL,
  headers TEXT NOT NULL,                        -- JSON object
  body    BLOB NOT NULL
);
CREATE INDEX holdfast_unsent ON holdfast_outbox (task);

-- Queues of messages, for who uses the file as a broker. A number is never used again, so whoever
-- listens to a queue that was removed does not hear another.
CREATE TABLE holdfast_queues (
  queue      INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
);

CREATE TABLE holdfast_messages (
  n           INTEGER PRIMARY KEY,              -- the order in which they came
  queue       INTEGER NOT NULL,                 -- holdfast_queues.queue
  id          TEXT NOT NULL,
  headers     TEXT NOT NULL,                    -- JSON object
  bytes       INTEGER NOT NULL,
  body        BLOB,                             -- NULL: in a file of this name
  file        TEXT,
  deliveries  INTEGER NOT NULL,
  consumer    TEXT,                             -- who has it; NULL: nobody
  lease_until INTEGER                           -- on the clock of the boot that it was taken in
);
CREATE INDEX holdfast_waiting_messages ON holdfast_messages (queue, n) WHERE consumer IS NULL;
CREATE INDEX holdfast_delivered ON holdfast_messages (consumer) WHERE consumer IS NOT NULL;

CREATE TABLE holdfast_workers (
  seq            INTEGER PRIMARY KEY,
  id             BLOB NOT NULL UNIQUE,
  host           TEXT NOT NULL,
  pid            INTEGER NOT NULL,
  clock          TEXT NOT NULL,                 -- the domain that lease_until is read in
  lease          INTEGER NOT NULL,              -- milliseconds of silence that are allowed
  lease_until    INTEGER NOT NULL,
  started_at     INTEGER NOT NULL,
  last_heartbeat INTEGER NOT NULL,
  profile        TEXT NOT NULL,                 -- JSON: queues, kinds, concurrency, heartbeat
  holding        TEXT NOT NULL DEFAULT '[]',    -- JSON: task ids at the last heartbeat
  figures        TEXT NOT NULL DEFAULT '',      -- JSON: what it counted; see figures.hpp
  stopped_at     INTEGER,                       -- said goodbye
  died_at        INTEGER,                       -- buried
  cleared_at     INTEGER,                       -- nothing of it is left
  cause          TEXT,
  evidence       TEXT
);

-- How the store was in a second, minute or hour, as servers saw it. Bounded by time.
CREATE TABLE holdfast_metrics (
  resolution INTEGER NOT NULL,                  -- seconds
  at         INTEGER NOT NULL,
  point      TEXT NOT NULL,                     -- see point.hpp
  PRIMARY KEY (resolution, at)
) WITHOUT ROWID;

-- What recovery did. The row comes into being in the commit of its first entry and grows with every
-- later one.
CREATE TABLE holdfast_reports (
  n            INTEGER PRIMARY KEY,             -- 0: the sum of those that were removed
  id           BLOB NOT NULL UNIQUE,
  at           INTEGER NOT NULL,                -- of its last commit
  complete     INTEGER NOT NULL DEFAULT 0,
  runs         INTEGER NOT NULL DEFAULT 1,
  pending      INTEGER NOT NULL DEFAULT 0,      -- orphans by what became of them
  failed       INTEGER NOT NULL DEFAULT 0,
  held         INTEGER NOT NULL DEFAULT 0,
  cancelled    INTEGER NOT NULL DEFAULT 0,
  not_taken    INTEGER NOT NULL DEFAULT 0,
  dead_workers INTEGER NOT NULL DEFAULT 0,
  report       TEXT NOT NULL                    -- JSON: everything but tasks and workers
);

CREATE TABLE holdfast_report_tasks (
  report       INTEGER NOT NULL,
  n            INTEGER NOT NULL,
  task         BLOB NOT NULL,                   -- its id: the task may be gone before the report
  state        INTEGER NOT NULL,
  attempt      INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  worker       BLOB,
  reason       TEXT NOT NULL,
  error        TEXT,                            -- NULL: it was taken back
  PRIMARY KEY (report, n)
) WITHOUT ROWID;

CREATE TABLE holdfast_report_workers (
  report         INTEGER NOT NULL,
  worker         BLOB NOT NULL,
  host           TEXT NOT NULL,
  pid            INTEGER NOT NULL,
  last_heartbeat INTEGER NOT NULL,
  cause          TEXT NOT NULL,
  evidence       TEXT NOT NULL,
  PRIMARY KEY (report, worker)
) WITHOUT ROWID;

-- Batches and their rows, with the columns of the tables that PostgreSQL shares with others. What
-- is ours alone is in holdfast_batch_claims, there as here. Statuses are the numbers of enum
-- BatchStatus.
CREATE TABLE holdfast_batches (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          BLOB NOT NULL UNIQUE,
  app         TEXT NOT NULL,
  op          TEXT NOT NULL,
  context     TEXT NOT NULL,
  inputfile   TEXT,
  status      INTEGER NOT NULL,
  reqat       INTEGER NOT NULL,
  doneat      INTEGER,
  outputfiles TEXT,
  nsuccess    INTEGER,
  nfailed     INTEGER,
  naborted    INTEGER,
  then_kind   TEXT                              -- of the task that follows its end
);
-- Those that there may be something to do about.
CREATE INDEX holdfast_open_batches ON holdfast_batches (seq) WHERE status < 2;

CREATE TABLE holdfast_batchrows (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  batch    INTEGER NOT NULL,                    -- holdfast_batches.seq
  line     INTEGER NOT NULL,
  input    TEXT NOT NULL,
  status   INTEGER NOT NULL,
  reqat    INTEGER NOT NULL,
  doneat   INTEGER,
  res      TEXT,
  blobrows TEXT,
  messages TEXT,
  doneby   TEXT
);
CREATE INDEX holdfast_batchrows_status ON holdfast_batchrows (batch, status);
CREATE INDEX holdfast_batchrows_line ON holdfast_batchrows (batch, line);

CREATE TABLE holdfast_batch_files (
  id           INTEGER PRIMARY KEY,
  batch        INTEGER NOT NULL,
  object_id    TEXT NOT NULL UNIQUE,            -- says what the content is, so none is taken twice
  filename     TEXT NOT NULL,
  size         INTEGER NOT NULL,
  checksum     TEXT NOT NULL,
  content_type TEXT NOT NULL,
  received_at  INTEGER NOT NULL
);

-- Units (rows, and the summary of a batch as row 0) that are claimed, or were and are not done.
CREATE TABLE holdfast_batch_claims (
  row         INTEGER NOT NULL,                 -- holdfast_batchrows.seq; 0: the summary
  batch       INTEGER NOT NULL,
  token       INTEGER NOT NULL,
  owner       INTEGER,                          -- holdfast_workers.seq; NULL: not claimed now
  lease_until INTEGER,
  claimed_at  INTEGER NOT NULL,
  run_at      INTEGER NOT NULL DEFAULT 0,       -- not before
  attempt     INTEGER NOT NULL DEFAULT 0,
  recoveries  INTEGER NOT NULL DEFAULT 0,
  crashes     INTEGER NOT NULL DEFAULT 0,
  suspect     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (row, batch)
) WITHOUT ROWID;
CREATE INDEX holdfast_batch_held ON holdfast_batch_claims (owner) WHERE owner IS NOT NULL;
CREATE INDEX holdfast_batch_left ON holdfast_batch_claims (batch, suspect) WHERE owner IS NULL;
