-- Takes work back from workers that are dead or silent.
--
-- ARGV: report (see report.lua), number of changes; of each: expired (1, 0), end of the lease for
--       who decided, reason, id, the change (see changes.lua)
-- Result: {answers, dependents}: of each 1, or 0 if it no longer is an orphan of that claim;
--         dependents has those that are to hear of ends (see dependents.lua)
local begin_report = take_report()

local function is_orphan(id, worker, expired, lease_end)
  local w = call('HMGET', P .. 'w:' .. worker, 's', 'lease')
  if w[1] ~= '0' then return true end
  if not expired then return false end
  local one = held_by(worker)[id]
  return not one or (one.lease_end == lease_end and past_its_time(lease_end, w[2]) ~= nil)
end

local answers, any = {}, false
for i = 1, take_number() do
  local expired, lease_end, reason, id, c = take_yes(), take_number(), take(), take(), take_change()
  local r = task_of(id)
  local more = r and as_decided(c, id, r)
  answers[i] = 0
  if more and is_orphan(id, r.worker, expired, lease_end) then
    if not any then begin_report() end
    any = true
    apply_change(c, id, r, more)
    local max = string.match(call('GET', P .. 'p:' .. id) or '', '^%d+') or 0
    add_to_report(id, c.to, c.attempt, max, r.worker, reason)
    answers[i] = 1
  end
end
flush()
if any then announce('work') end
return { answers, dependents() }
