-- Moves tasks at an operator's word.
--
-- ARGV: number of changes; of each: id, the change (see changes.lua)
-- Result: {done, dependents, now}: done has of each change 1, or 0 if its task is not what it was decided
--         for; dependents has those that are to hear of ends (see dependents.lua)
local done, ready, stopped = {}, false, false
for i = 1, take_number() do
  local id, c = take(), take_change()
  local r = task_of(id)
  local more = r and as_decided(c, id, r)
  done[i] = more and 1 or 0
  if more then
    apply_change(c, id, r, more)
    stopped = stopped or r.state == RUNNING
    ready = ready or c.to == PENDING or (r.state == RUNNING and c.to ~= RUNNING)
  end
end
flush()
if stopped then announce('control') end
if ready then announce('work') end
return { done, dependents(), now_text }
