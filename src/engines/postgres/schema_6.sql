-- From version 5 to version 6: what workers count, and how the store was over time.

ALTER TABLE hf.workers ADD COLUMN figures text NOT NULL DEFAULT '';

-- In a second, minute or hour, as servers saw it that watched the store. Bounded by time.
CREATE TABLE hf.metrics (
  resolution int NOT NULL,                     -- seconds
  at         bigint NOT NULL,
  point      text NOT NULL,
  PRIMARY KEY (resolution, at)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000);
