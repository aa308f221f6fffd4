-- Removes finished tasks, oldest first. Where there are too many, dead letters go last, because
-- somebody may still want to redrive them.
--
-- ARGV: limit, completed and cancelled ones that ended before this, failed ones likewise, how many
--       finished ones to keep, remove whatever the age (1, 0)
-- Result: {removed, hurry (1: there is more than the number of those to keep)}
local limit, before_others, before_failed, most, any_age =
  take_number(), take_number(), take_number(), take_number(), take() == '1'
local states = { COMPLETED, FAILED, CANCELLED }
local all = call('ZCARD', P .. 'done:' .. FAILED) + call('ZCARD', P .. 'done:' .. CANCELLED)
local numbers = call('HGETALL', P .. 'counts')
for i = 1, #numbers, 2 do
  if string.match(numbers[i], '[^\31]*$') == COMPLETED then all = all + tonumber(numbers[i + 1]) end
end
local excess = math.max(all - most, 0)
local wanted = any_age and limit or math.min(excess, limit)

-- What others still wait for is kept: a dead letter that is redriven releases them.
local function is_waited_for(id)
  local r = task_of(id)
  if not r or not unusual(id, r, 'd')[1] then return false end
  for _, waits in ipairs(call('SMEMBERS', P .. 'after:' .. id)) do
    local other = task_of(waits)
    if other and (other.state == BLOCKED or other.state == HELD) then return true end
  end
  return false
end
-- Completed ones are in a list; what is chosen of them are its first. `passed`: how much of it is
-- not needed any more.
local passed, passed_at = 0, nil
local function time_of(entry) return string.match(entry, '^=(.*)$') end
local function oldest_completed(before, most_of_these)
  -- Mostly the very first is too young. Everybody waits for a script, and whoever has nothing to
  -- remove asks four times a second: then nothing more is read.
  local first = call('LRANGE', P .. 'completed', 0, 1)
  local since, r = first[1] and time_of(first[1]), first[2] and task_of(first[2])
  if since and tonumber(since) >= before and r and r.state == COMPLETED and r.finished == since then
    return {}
  end
  local entries, ids = call('LRANGE', P .. 'completed', 0, 2 * most_of_these + 100), {}
  for _, entry in ipairs(entries) do
    if not time_of(entry) then ids[#ids + 1] = entry end
  end
  look_up(ids)
  local found, seen, at, latest = {}, {}, nil, 0
  for place, entry in ipairs(entries) do
    local r = not time_of(entry) and task_of(entry)
    at = time_of(entry) or at
    -- A clock that was set back must not change the order.
    latest = math.max(latest, tonumber(at))
    if r and r.state == COMPLETED and r.finished == at and not seen[entry] then
      if #found == most_of_these or latest >= before or is_waited_for(entry) then break end
      seen[entry] = true
      found[#found + 1] = { id = entry, at = latest, state = COMPLETED, place = place, time = at }
    end
    if #found == 0 and not time_of(entry) then passed, passed_at = place, at end
  end
  return found
end
local function cut_off(chosen)
  for _, one in ipairs(chosen) do
    if one.place and one.place > passed then passed, passed_at = one.place, one.time end
  end
  if passed == 0 then return end
  call('LTRIM', P .. 'completed', passed, -1)
  local first = call('LINDEX', P .. 'completed', 0)
  if first and not time_of(first) then
    call('LPUSH', P .. 'completed', '=' .. passed_at)
  end
end
local function oldest(state, before, most_of_these)
  if state == COMPLETED then return oldest_completed(before, most_of_these) end
  local found, offset = {}, 0
  before = before == math.huge and '+inf' or '(' .. digits(before)
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
    for _, one in ipairs(oldest(state, math.huge, wanted)) do chosen[#chosen + 1] = one end
  end
  table.sort(chosen, function(a, b)
    if (a.state == FAILED) ~= (b.state == FAILED) then return b.state == FAILED end
    if a.at ~= b.at then return a.at < b.at end
    if a.place ~= b.place then return (a.place or 0) < (b.place or 0) end
    return a.id < b.id
  end)
  for i = #chosen, wanted + 1, -1 do chosen[i] = nil end
end
for _, state in ipairs(states) do
  if #chosen > 0 then break end
  chosen = oldest(state, state == FAILED and before_failed or before_others, limit)
end
for _, one in ipairs(chosen) do remove_task(one.id, one.state) end
cut_off(chosen)
flush()
return { #chosen, #chosen > 0 and (any_age or excess > #chosen) and 1 or 0 }
