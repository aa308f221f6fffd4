-- Tasks as far as their next change depends on them; see lifecycle.hpp.
--
-- ARGV: number of ids, these
-- Result: {now, tasks}; of each: its record (nil if it is not there), crashes, suspect, asked to
--         stop, unique key (each nil where it has none), whether it waits for others (1, 0), whether
--         another unfinished task has its key (1, 0)
local tasks = {}
for i = 1, take_number() do
  local id = take()
  local r = task_of(id)
  if not r then
    tasks[i] = { false }
  else
    local more = unusual(id, r, 'y', 'u', 'x', 'uk')
    local has_key = more[4] and call('HGET', P .. 'unique', more[4])
    tasks[i] = { known[id], more[1] or false, more[2] or false, more[3] or false,
      more[4] or false, call('EXISTS', P .. 'waits:' .. id),
      has_key and has_key ~= id and 1 or 0 }
  end
end
return { now_text, tasks }
