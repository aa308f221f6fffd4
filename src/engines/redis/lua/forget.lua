-- Removes tasks that another store has now.
--
-- ARGV: number of ids, these
-- Result: how many of them were held or finished, and are gone. One that has completed stays as long
--         as not all who wait for it have heard of it.
local gone = 0
for _ = 1, take_number() do
  local id = take()
  local r = task_of(id)
  local state = r and r.state
  local waited_for = state == COMPLETED and call('EXISTS', P .. 'after:' .. id) == 1
  if state and (state == HELD or finished[state]) and not waited_for then
    remove_task(id, state)
    gone = gone + 1
  end
end
flush()
return gone
