-- From version 4 to version 5: what is ours about batches, beside the tables that others may share.

-- Units (rows, and the summary of a batch as row 0) that are claimed, or were and are not done.
CREATE TABLE hf.batch_claims (
  batchrow    bigint NOT NULL,                 -- batchrows.rowid, 0 is the summary
  batch       uuid NOT NULL,
  token       bigint NOT NULL,
  owner       uuid,                            -- NULL: not claimed now
  lease_until bigint,
  claimed_at  bigint NOT NULL,
  run_at      bigint NOT NULL DEFAULT 0,       -- not before
  attempt     int NOT NULL DEFAULT 0,
  recoveries  int NOT NULL DEFAULT 0,
  crashes     int NOT NULL DEFAULT 0,
  suspect     boolean NOT NULL DEFAULT false,
  PRIMARY KEY (batchrow, batch)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0);
-- Who holds what.
CREATE INDEX batch_claims_held ON hf.batch_claims (owner) WHERE owner IS NOT NULL;
-- What was begun, is not held, and is not done.
CREATE INDEX batch_claims_left ON hf.batch_claims (batch) WHERE owner IS NULL;
-- Of these, what must run alone: few, and asked for with every claim.
CREATE INDEX batch_claims_suspect ON hf.batch_claims (batch) WHERE owner IS NULL AND suspect;

-- Rows in progress that nobody of ours has claimed, and since when we know of them: the tables of
-- batches do not say when a row was begun.
CREATE TABLE hf.batch_sightings (
  batchrow bigint PRIMARY KEY,
  seen_at  bigint NOT NULL
);

-- What was asked for when a batch was submitted and its own table has no column for.
CREATE TABLE hf.batch_notes (
  batch     uuid PRIMARY KEY,
  then_kind text NOT NULL                      -- of the task that follows its end
);
