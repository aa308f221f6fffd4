-- From version 1 to version 2: limits and schedules.

ALTER TABLE hf.tasks ADD COLUMN limit_key text COLLATE "C";
-- Whether there is one. A column, so that it can be in the middle of an index.
ALTER TABLE hf.tasks ADD COLUMN keyed boolean NOT NULL DEFAULT false;

-- Claim order within a queue and kind. Tasks with limit keys are apart from those without, because
-- a limit may hold back any number of them.
DROP INDEX hf.tasks_ready;
CREATE INDEX tasks_ready ON hf.tasks (priority, queue, kind, keyed, suspect, run_at, seq)
  WHERE state = 0;
-- Claim order within a queue, kind and key, for as long as there are limits of keys. No state is
-- less than 0: "less than 1" says the same in a way from which the planner cannot conclude that the
-- index above would do as well, and walk through all that is held back.
CREATE INDEX tasks_ready_keys ON hf.tasks (priority, queue, kind, limit_key, suspect, run_at, seq)
  WHERE state < 1 AND keyed;

CREATE TABLE hf.limits (
  scope       smallint NOT NULL,               -- the number of enum LimitScope
  name        text COLLATE "C" NOT NULL,
  max_running int,
  tasks       int,                             -- so many in each period; NULL: no rate
  period      bigint,
  burst       int,
  PRIMARY KEY (scope, name)
);

-- What is left in token buckets. A bucket that is full again is not kept; see token_bucket.hpp.
CREATE TABLE hf.buckets (
  scope   smallint NOT NULL,
  name    text COLLATE "C" NOT NULL,           -- never '*'
  parts   bigint NOT NULL,
  at      bigint NOT NULL,
  full_at bigint NOT NULL,
  PRIMARY KEY (scope, name)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE hf.schedules (
  name       text COLLATE "C" PRIMARY KEY,
  cron       text NOT NULL,
  zone       text NOT NULL,
  kind       text NOT NULL,
  payload    text NOT NULL,
  options    text NOT NULL,                    -- JSON; see schedule_text.hpp
  missed     smallint NOT NULL,                -- the number of enum MissedRuns
  paused     boolean NOT NULL,
  next       bigint,
  last_fired bigint,
  revision   bigint NOT NULL
);
CREATE INDEX schedules_due ON hf.schedules (next) WHERE NOT paused;
