-- From version 3 to version 4: what transactions have beside their tasks.

-- There is no row before the first step.
CREATE TABLE hf.transactions (
  task          uuid PRIMARY KEY,
  state         text NOT NULL,
  reason        text NOT NULL,                 -- why it is in this state; empty: the usual way
  data          text NOT NULL,                 -- JSON
  error         text NOT NULL,                 -- of the last failure in this state
  failures      int NOT NULL,
  began_at      bigint NOT NULL,
  entered_at    bigint NOT NULL,
  progressed_at bigint NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE hf.moves (
  task       uuid NOT NULL,
  n          bigint GENERATED ALWAYS AS IDENTITY,
  from_state text NOT NULL,
  to_state   text NOT NULL,
  reason     text NOT NULL,
  token      bigint NOT NULL,
  at         bigint NOT NULL,
  PRIMARY KEY (task, n)
);

-- The first value that is recorded for a series and ordinal stays.
CREATE TABLE hf.ledger (
  task    uuid NOT NULL,
  series  text COLLATE "C" NOT NULL,
  ordinal bigint NOT NULL,
  value   text NOT NULL,
  PRIMARY KEY (task, series, ordinal)
);

-- Messages that were decided on and are not confirmed by the broker yet.
CREATE TABLE hf.outbox (
  task    uuid NOT NULL,
  n       bigint GENERATED ALWAYS AS IDENTITY,
  queue   text NOT NULL,
  id      text NOT NULL,
  headers text NOT NULL,                       -- JSON object
  body    bytea NOT NULL,
  PRIMARY KEY (task, n)
);
