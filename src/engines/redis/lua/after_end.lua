-- Tells tasks that waited for others of the ends of these.
--
-- ARGV: number of tasks; of each: id, number of ends, the tasks that ended, whether it changes
--       (1, 0), and the change, or of one that does not change what it was (see changes.lua)
-- Result: {done, dependents, now}: done has of each 1, or 0 if it is not what was decided about or
--         has heard of the ends meanwhile; dependents has those that are left (see dependents.lua)
local function is_to_hear(id, ended)
  for _, on in ipairs(ended) do
    if call('SISMEMBER', P .. 'after:' .. on, id) == 0 then return false end
  end
  return true
end

local done, ready = {}, false
for i = 1, take_number() do
  local id, ended = take(), {}
  for n = 1, take_number() do ended[n] = take() end
  local changes = take_yes()
  local c = changes and take_change() or { before = take_before() }
  local r = task_of(id)
  local more = r and is_to_hear(id, ended) and as_decided(c, id, r, ended)
  done[i] = more and 1 or 0
  if more then
    for _, on in ipairs(ended) do call('SREM', P .. 'after:' .. on, id) end
    call('SREM', P .. 'waits:' .. id, unpack(ended))
    if changes then apply_change(c, id, r, more) end
    ready = ready or c.to == PENDING
  end
end
flush()
if ready then announce('work') end
return { done, dependents(), now_text }
