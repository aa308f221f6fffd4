-- From version 7 to version 8: how many tasks each queue has in each state is kept, not counted.
-- Whoever changes states adds rows to hf.count_changes in the same transaction; a row of totals
-- that all had to change would make them wait for each other. Now and then somebody adds these up
-- into hf.counts, and whoever asks adds both.

CREATE TABLE hf.counts (
  queue text COLLATE "C" NOT NULL,
  state smallint NOT NULL,
  tasks bigint NOT NULL,
  PRIMARY KEY (queue, state)
) WITH (fillfactor = 50);

CREATE TABLE hf.count_changes (
  queue text COLLATE "C" NOT NULL,
  state smallint NOT NULL,
  tasks bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_insert_scale_factor = 0.0, autovacuum_vacuum_insert_threshold = 100000,
        autovacuum_vacuum_cost_delay = 0);

LOCK TABLE hf.tasks IN SHARE MODE;
INSERT INTO hf.counts SELECT queue, state, count(*) FROM hf.tasks GROUP BY queue, state;
