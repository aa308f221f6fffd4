-- Inserts all tasks or none. Refused by the server where its memory is used up.
--
-- ARGV: number of tasks, the tasks (see new_tasks.lua)
-- Result: {'ok', {id, created, id, created, ...}}, or {'exists' | 'unknown' | 'cancelled', id}
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
