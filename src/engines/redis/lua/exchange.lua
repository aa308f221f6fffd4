-- Settles what has ended and claims anew, in one step.
--
-- ARGV: number of settlements; of each: id, token, to, result, reason, attempt, was attempt (1, 0),
--       delay, number of follow-up tasks, these (see new_tasks.lua);
--       worker ('' to claim nothing), limit, most suspects, lease, number of queues, these (none:
--       all), number of kinds, these, number of this claim, count of earlier claims of this worker
--       whose answers were lost, their numbers
-- Result: {'ok', settled, buried, claimed}: settled has 0 (accepted), 1 (repeated) or 2 (refused)
--         for each; claimed has ten values for each task; or {'exists' | 'unknown' | 'cancelled', id}
--         about a follow-up, then nothing was done
local settlements = {}
for i = 1, take_number() do
  local one = { id = take(), token = take(), to = take(), result = take(), reason = take(),
    attempt = take(), was_attempt = take() == '1', delay = take_number(), follow_ups = {} }
  for j = 1, take_number() do one.follow_ups[j] = take_task() end
  settlements[i] = one
end

local function holds(one)
  local t = call('HMGET', P .. 't:' .. one.id, 's', 't')
  return t[1] == RUNNING and t[2] == one.token
end
for _, one in ipairs(settlements) do
  if #one.follow_ups > 0 and holds(one) then
    for _, t in ipairs(one.follow_ups) do
      local wrong, id = check_task(t)
      if wrong then return { wrong, id } end
    end
  end
end

if call('EXISTS', P .. 'cascade') == 1 then continue_cascade() end

local refused, woken = 0, false
local function settle(one)
  local key = P .. 't:' .. one.id
  local t = call('HMGET', key, 's', 't', 'q', 'k', 'p', 'c', 'o', 'x', 'u', 'd', 'uk', 'l', 'w')
  if t[1] ~= RUNNING or t[2] ~= one.token then
    if t[1] and t[2] == one.token then return 1 end
    refused = refused + 1
    return 2
  end
  local to = one.to
  -- Somebody may have asked it to stop after the worker made up its mind to try again.
  if to == PENDING and t[8] then to = CANCELLED end
  local lane = lane_of(t[3], t[4])
  local set, clear = { 's', to, 'a', one.attempt }, {}
  local function add(field, value) set[#set + 1] = field; set[#set + 1] = value end
  if one.result ~= '' then add('w', one.result) elseif t[13] then clear[#clear + 1] = 'w' end
  if one.reason ~= '' then add('e', one.reason) end
  if t[8] then clear[#clear + 1] = 'x' end
  local suspect = t[9]
  if suspect and one.was_attempt then
    clear[#clear + 1] = 'u'
    suspect = false
  end
  if to == PENDING then
    local run_at = one.delay > 0 and now + one.delay or 0
    add('r', digits(run_at))
    index_pending(one.id, t[3], t[4], t[5], run_at, t[6], suspect)
    woken = true
  else
    add('f', digits(now))
  end
  call('HSET', key, unpack(set))
  if #clear > 0 then call('HDEL', key, unpack(clear)) end
  drop('held:' .. t[7], one.id)
  count(lane, RUNNING, -1)
  count(lane, to, 1)
  if to ~= COMPLETED and (one.was_attempt or to ~= one.to) then
    add_history(one.id, RUNNING, to, 'worker/' .. t[7], one.reason, one.token, one.attempt, t[12],
      t[7])
  end
  if finished[to] then end_task(one.id, to, t[11], t[10], 'system/dependency') end
  if #one.follow_ups > 0 then
    write_tasks(one.follow_ups)
    woken = true
  end
  return 0
end

local settled = {}
for i, one in ipairs(settlements) do settled[i] = settle(one) end
local releases = #cascade > 0
work_off_cascade()
flush()
if refused > 0 then call('HINCRBY', P .. 'totals', 'refused', refused) end
if woken or releases then announce('work') end

local worker = take()
if worker == '' then return { 'ok', settled, 0, {} } end
local limit, most_suspects, lease = take_number(), take_number(), take_number()
local queues, kinds = {}, {}
for i = 1, take_number() do queues[i] = take() end
for i = 1, take_number() do kinds[i] = take() end
local number, unanswered = take(), {}
for _ = 1, take_number() do unanswered[take()] = true end
if call('HGET', P .. 'w:' .. worker, 's') ~= '0' then return { 'ok', settled, 1, {} } end

local claimed, payload_keys = {}, {}
if next(unanswered) then
  for _, id in ipairs(call('ZRANGE', P .. 'held:' .. worker, 0, -1)) do
    local t = call('HMGET', P .. 't:' .. id, 'z', 't', 'k', 'q', 'a', 'm', 'i', 'u', 'b')
    if t[1] and unanswered[t[1]] then
      claimed[#claimed + 1] = { id, t[2], t[3], t[4], t[5], t[6], t[7], t[8] and 1 or 0,
        t[9] or '' }
      payload_keys[#payload_keys + 1] = P .. 'p:' .. id
      put('held:' .. worker, id, steady + lease)
    end
  end
  limit = math.max(limit - #claimed, 0)
end
local candidates = find_candidates(queues, kinds, limit, most_suspects)
for _, one in ipairs(candidates) do
  local key = P .. 't:' .. one.id
  local t = call('HMGET', key, 't', 'a', 'm', 'i', 'b')
  drop(one.from, one.id)
  -- What is in the index only is nothing; `check` finds out why.
  if t[1] then
    local token, attempt = next_token(t[1]), tonumber(t[2]) + 1
    call('HSET', key, 's', RUNNING, 't', token, 'o', worker, 'l', digits(now), 'a', attempt,
      'z', number)
    count(one.lane, PENDING, -1)
    count(one.lane, RUNNING, 1)
    put('held:' .. worker, one.id, steady + lease)
    claimed[#claimed + 1] = { one.id, token, one.kind, one.queue, attempt, t[3], t[4],
      one.suspect and 1 or 0, t[5] or '' }
    payload_keys[#payload_keys + 1] = P .. 'p:' .. one.id
  end
end
if #claimed > 0 then call('SADD', P .. 'holders', worker) end
flush()
for first = 1, #payload_keys, 2000 do
  local some = call('MGET', unpack(payload_keys, first, math.min(first + 1999, #payload_keys)))
  for i, payload in ipairs(some) do claimed[first + i - 1][10] = payload or '' end
end
return { 'ok', settled, 0, claimed }
