-- Writes schedules, each if it still is as it was seen, with the tasks that it fires.
--
-- ARGV: number of changes; of each: name, revision that was seen (0: none), revision, rest of the
--       schedule's text (see schedules.cpp), next time ('' if it is paused or has none), the tasks
--       that it fires (see new_tasks.lua)
-- Result: {'ok', answers}; of each change: accepted (1, 0), and of those of its tasks that were
--         there already: place (from 0), id; or {'unknown' | 'cancelled', id} about a task, or
--         {'moved', name of the store that is to be used instead}, then nothing was done
local moved_to = call('HGET', P .. 'move', 'closed_to')
local changes, revisions = {}, {}
for i = 1, take_number() do
  local change = { name = take(), seen = take(), revision = take(), text = take(), next = take(),
    fires = take_tasks() }
  changes[i] = change
  local revision = revisions[change.name]
    or string.match(call('HGET', P .. 'schedules', change.name) or '0', '^%d+')
  if revision == change.seen then
    change.accepted = true
    revisions[change.name] = change.revision
    if moved_to and #change.fires > 0 then return { 'moved', moved_to } end
    for _, t in ipairs(change.fires) do
      if fresh[ARGV[t]] or task_of(ARGV[t]) then
        existing[t] = ARGV[t]
      else
        local wrong, id = check_task(t)
        if wrong then return { wrong, id } end
      end
    end
  end
end

local answers, fired = {}, false
for i, change in ipairs(changes) do
  answers[i] = { 0, {} }
  if change.accepted then
    call('HSET', P .. 'schedules', change.name, change.revision .. '\31' .. change.text)
    if change.next == '' then
      call('ZREM', P .. 'due', change.name)
    else
      call('ZADD', P .. 'due', change.next, change.name)
    end
    answers[i] = { 1, #change.fires > 0 and write_tasks(change.fires) or {} }
    fired = fired or #change.fires > 0
  end
end
flush()
if fired then announce('work') end
return { 'ok', answers }
