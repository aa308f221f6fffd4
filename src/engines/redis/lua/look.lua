-- Tasks as far as their next change depends on them; see lifecycle.hpp.
--
-- ARGV: number of ids, these
-- Result: of each what row_of says, or nothing if it is not there
local ids, tasks = {}, {}
for i = 1, take_number() do ids[i] = take() end
look_up(ids)
for i, id in ipairs(ids) do
  local r = task_of(id)
  tasks[i] = r and row_of(id, r) or { false }
end
return tasks
