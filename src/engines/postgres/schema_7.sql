-- From version 6 to version 7: finished tasks are counted from their index alone. There may be
-- millions, and their rows have payloads. The queue is a part of the key, not included beside it:
-- what ended in the same batch then stays one entry with many places.

DROP INDEX hf.tasks_finished;
CREATE INDEX tasks_finished ON hf.tasks (state, finished_at, queue) WHERE state IN (2, 3, 4);
