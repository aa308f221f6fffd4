-- Removes tasks that another store has now.
--
-- ARGV: number of ids, these
-- Result: how many of them were held or finished, and are gone
local gone = 0
for _ = 1, take_number() do
  local id = take()
  local state = call('HGET', P .. 't:' .. id, 's')
  if state and (state == HELD or finished[state]) then
    remove_task(id, state)
    gone = gone + 1
  end
end
flush()
return gone
