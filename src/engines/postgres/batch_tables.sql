-- The tables of batches, in the shape in which the services that we share them with make them. Only
-- made where they are not there. Their schema is the one that the address of the store names.

CREATE TYPE alya.status_enum AS ENUM ('queued', 'inprog', 'success', 'failed', 'aborted', 'wait');

CREATE TABLE alya.batches (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  app         varchar(255) NOT NULL,
  op          varchar(255) NOT NULL CHECK (op = lower(op)),
  context     jsonb NOT NULL,
  inputfile   varchar(255),
  status      alya.status_enum NOT NULL,
  reqat       timestamp NOT NULL,
  doneat      timestamp,
  outputfiles jsonb,
  nsuccess    int,
  nfailed     int,
  naborted    int,
  created_at  timestamp DEFAULT now()
);
CREATE INDEX idx_batches_app ON alya.batches (app);
CREATE INDEX idx_batches_app_op ON alya.batches (app, op);
CREATE INDEX idx_batches_status ON alya.batches (status);

CREATE TABLE alya.batchrows (
  rowid      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  batch      uuid NOT NULL REFERENCES alya.batches (id) ON DELETE CASCADE,
  line       int NOT NULL,
  input      jsonb NOT NULL,
  status     alya.status_enum NOT NULL,
  reqat      timestamp NOT NULL,
  doneat     timestamp,
  res        jsonb,
  blobrows   jsonb,
  messages   jsonb,
  doneby     varchar(255),
  created_at timestamp DEFAULT now()
);
CREATE INDEX idx_batchrows_status ON alya.batchrows (status);
CREATE INDEX idx_batchrows_batch_status ON alya.batchrows (batch, status);

CREATE TABLE alya.batch_files (
  id            serial PRIMARY KEY,
  batch_id      uuid REFERENCES alya.batches (id) ON DELETE CASCADE,
  object_id     text NOT NULL UNIQUE,
  filename      text NOT NULL,
  size          bigint NOT NULL,
  checksum      text NOT NULL,
  content_type  text NOT NULL,
  status        boolean NOT NULL DEFAULT true,
  received_at   timestamptz NOT NULL,
  processed_at  timestamptz,
  error_message text,
  metadata      jsonb,
  created_at    timestamptz DEFAULT now()
);
CREATE INDEX idx_batch_files_batch_id ON alya.batch_files (batch_id);
