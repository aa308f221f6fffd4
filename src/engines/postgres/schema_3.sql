-- From version 2 to version 3: what a store knows of its being moved to another one.

CREATE TABLE hf.notes (
  key   text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);
