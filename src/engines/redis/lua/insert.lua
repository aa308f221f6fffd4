-- Inserts all tasks or none. Refused by the server where its memory is used up.
--
-- ARGV: number of tasks, the tasks (see new_tasks.lua)
-- Result: {'ok', {id, created, id, created, ...}}, or {'exists' | 'unknown' | 'cancelled', id}, or
--         {'moved', name of the store that is to be used instead}
local moved_to = call('HGET', P .. 'move', 'closed_to')
if moved_to then return { 'moved', moved_to } end
local list = {}
for i = 1, take_number() do
  local t = take_task()
  local wrong, id = check_task(t)
  if wrong then return { wrong, id } end
  list[i] = t
end
local answers = write_tasks(list)
flush()
announce('work')
return { 'ok', answers }
