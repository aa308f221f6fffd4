-- Removes finished tasks, oldest first. Where there are too many, dead letters go last, because
-- somebody may still want to redrive them.
--
-- ARGV: limit, completed and cancelled ones that ended before this, failed ones likewise, how many
--       finished ones to keep, remove whatever the age (1, 0)
-- Result: {removed, hurry (1: there is more than the number of those to keep)}
local limit, before_others, before_failed, most, any_age =
  take_number(), take_number(), take_number(), take_number(), take() == '1'
local states = { COMPLETED, FAILED, CANCELLED }
local all = 0
for _, state in ipairs(states) do all = all + call('ZCARD', P .. 'done:' .. state) end
local excess = math.max(all - most, 0)
local wanted = any_age and limit or math.min(excess, limit)

-- What others still wait for is kept: a dead letter that is redriven releases them.
local function is_waited_for(id)
  if not call('HGET', P .. 't:' .. id, 'd') then return false end
  for _, waits in ipairs(call('SMEMBERS', P .. 'after:' .. id)) do
    local state = call('HGET', P .. 't:' .. waits, 's')
    if state == BLOCKED or state == HELD then return true end
  end
  return false
end
local function oldest(state, before, most_of_these)
  local found, offset = {}, 0
  while #found < most_of_these and offset < 2000 do
    local some = call('ZRANGEBYSCORE', P .. 'done:' .. state, '-inf', before, 'WITHSCORES', 'LIMIT',
      offset, most_of_these)
    for i = 1, #some, 2 do
      if #found < most_of_these and not is_waited_for(some[i]) then
        found[#found + 1] = { id = some[i], at = tonumber(some[i + 1]), state = state }
      end
    end
    if #some < 2 * most_of_these then break end
    offset = offset + most_of_these
  end
  return found
end

local chosen = {}
if wanted > 0 then
  for _, state in ipairs(states) do
    for _, one in ipairs(oldest(state, '+inf', wanted)) do chosen[#chosen + 1] = one end
  end
  table.sort(chosen, function(a, b)
    if (a.state == FAILED) ~= (b.state == FAILED) then return b.state == FAILED end
    if a.at ~= b.at then return a.at < b.at end
    return a.id < b.id
  end)
  for i = #chosen, wanted + 1, -1 do chosen[i] = nil end
end
for _, state in ipairs(states) do
  if #chosen > 0 then break end
  chosen = oldest(state, '(' .. digits(state == FAILED and before_failed or before_others), limit)
end
for _, one in ipairs(chosen) do remove_task(one.id, one.state) end
flush()
return { #chosen, #chosen > 0 and (any_age or excess > #chosen) and 1 or 0 }
