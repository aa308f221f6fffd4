-- Tasks as far as their next change depends on them; see lifecycle.hpp.
--
-- ARGV: number of ids, these
-- Result: {now, tasks}; of each: its record (nil if it is not there), crashes, suspect, asked to
--         stop (each nil where it is not so), and unless it runs whether it waits for others (1, 0)
--         and whether another unfinished task has its key (1, 0)
local ids, tasks = {}, {}
for i = 1, take_number() do ids[i] = take() end
look_up(ids)
for i, id in ipairs(ids) do
  local r = task_of(id)
  if not r then
    tasks[i] = { false }
  elseif r.state == RUNNING then
    local more = unusual(id, r, 'y', 'u', 'x')
    tasks[i] = { known[id], more[1] or false, more[2] or false, more[3] or false }
  else
    local more = unusual(id, r, 'y', 'u', 'x', 'uk')
    local has_key = more[4] and call('HGET', P .. 'unique', more[4])
    tasks[i] = { known[id], more[1] or false, more[2] or false, more[3] or false,
      call('EXISTS', P .. 'waits:' .. id), has_key and has_key ~= id and 1 or 0 }
  end
end
return { now_text, tasks }
