-- Settles what has ended and claims anew, in one step.
--
-- ARGV: number of settlements; of each: id, token, and either the attempt (completed, and nothing
--       else to say) or '', to, result, reason, attempt, was attempt (1, 0), delay, number of
--       follow-up tasks, these (see new_tasks.lua);
--       worker ('' to claim nothing), limit, most suspects, lease, number of queues, these (none:
--       all), number of kinds, these, number of this claim, count of earlier claims of this worker
--       whose answers were lost, their numbers
-- Result: {'ok', settled, buried, claimed}: settled has 0 (accepted), 1 (repeated) or 2 (refused)
--         for each; claimed has id, token, lane, attempt, suspect (1, 0) and body of each task;
--         or {'exists' | 'unknown' | 'cancelled', id} about a follow-up, then nothing was done

-- A plain one is only the place of its arguments: there are many of these.
local settlements = {}
local function unfold(at)
  return { id = ARGV[at + 1], token = ARGV[at + 2], to = COMPLETED, result = '', reason = '',
    attempt = ARGV[at + 3], was_attempt = true, delay = 0 }
end
for i = 1, take_number() do
  local at = taken
  if ARGV[at + 3] ~= '' then
    settlements[i] = at
    taken = at + 3
  else
    local one = { id = ARGV[at + 1], token = ARGV[at + 2], to = ARGV[at + 4],
      result = ARGV[at + 5], reason = ARGV[at + 6], attempt = ARGV[at + 7],
      was_attempt = ARGV[at + 8] == '1', delay = tonumber(ARGV[at + 9]) }
    local follow_ups = tonumber(ARGV[at + 10])
    taken = at + 10
    if follow_ups > 0 then
      one.follow_ups = {}
      for j = 1, follow_ups do one.follow_ups[j] = take_task() end
    end
    settlements[i] = one
  end
end

local function holds(one)
  local t = call('HMGET', P .. 't:' .. one.id, 's', 't')
  return t[1] == RUNNING and t[2] == one.token
end
for _, one in ipairs(settlements) do
  if type(one) == 'table' and one.follow_ups and holds(one) then
    for _, t in ipairs(one.follow_ups) do
      local wrong, id = check_task(t)
      if wrong then return { wrong, id } end
    end
  end
end

if call('EXISTS', P .. 'cascade') == 1 then continue_cascade() end

local refused, ended_any, woken = 0, false, false
-- An end that is not the plain one: tried again, failed, cancelled, or with something to clear.
local function settle_unusual(one, t)
  local key, to = P .. 't:' .. one.id, one.to
  -- Somebody may have asked it to stop after the worker made up its mind to try again.
  if to == PENDING and t[5] then to = CANCELLED end
  local set = { 's', to, 'a', one.attempt }
  local function add(field, value) set[#set + 1] = field; set[#set + 1] = value end
  -- Why it was given back is no error of the task.
  if one.reason ~= '' and one.was_attempt then add('e', one.reason) end
  if one.result ~= '' then add('w', one.result) end
  call('HDEL', key, 'x', one.result == '' and 'w' or 'x', one.was_attempt and 'u' or 'x')
  if to == PENDING then
    local run_at = one.delay > 0 and now + one.delay or 0
    add('r', digits(run_at))
    index_pending(one.id, t[4], call('HGET', key, 'o'), run_at, t[6] and not one.was_attempt)
    woken = true
  else
    add('f', now_text)
  end
  call('HSET', key, unpack(set))
  if to ~= COMPLETED and (one.was_attempt or to ~= one.to or one.reason ~= '') then
    local worker, claimed_at = holder_of(t[3])
    add_history(one.id, RUNNING, to, 'worker/' .. worker, one.reason, one.token, one.attempt,
      claimed_at, worker)
  end
  return to
end

local function settle(one)
  local key = P .. 't:' .. one.id
  local t = call('HMGET', key, 's', 't', 'h', 'l', 'x', 'u', 'd', 'uk', 'w')
  if t[1] ~= RUNNING or t[2] ~= one.token then
    if t[1] and t[2] == one.token then return 1 end
    refused = refused + 1
    return 2
  end
  local to = settle_unusual(one, t)
  ended_any = true
  drop('held:' .. string.sub(t[3], 1, 26), one.id)
  count(t[4], RUNNING, -1)
  count(t[4], to, 1)
  if finished[to] then end_task(one.id, to, t[8], t[7], 'system/dependency') end
  if one.follow_ups then
    write_tasks(one.follow_ups)
    woken = true
  end
  return 0
end

local ended_of, completed_of, done = {}, {}, {}
local function settle_plain(at)
  local id, token = ARGV[at + 1], ARGV[at + 2]
  local key = P .. 't:' .. id
  local t = call('HMGET', key, 's', 't', 'h', 'l', 'x', 'u', 'd', 'uk', 'w')
  if t[1] ~= RUNNING or t[2] ~= token then return settle(unfold(at)) end
  if t[5] or t[6] or t[7] or t[8] or t[9] then return settle(unfold(at)) end
  call('HSET', key, 's', COMPLETED, 'a', ARGV[at + 3], 'f', now_text)
  local holder, lane = t[3], t[4]
  local ended = ended_of[holder]
  if not ended then
    ended = {}
    ended_of[holder] = ended
  end
  ended[#ended + 1] = id
  ended_any = true
  done[#done + 1] = now_text
  done[#done + 1] = id
  completed_of[lane] = (completed_of[lane] or 0) + 1
  return 0
end

local settled = {}
for i, one in ipairs(settlements) do
  if type(one) == 'table' then settled[i] = settle(one) else settled[i] = settle_plain(one) end
end
for holder, ids in pairs(ended_of) do
  in_portions('ZREM', P .. 'held:' .. string.sub(holder, 1, 26), ids)
end
in_portions('ZADD', P .. 'done:' .. COMPLETED, done)
for lane, number in pairs(completed_of) do
  count(lane, RUNNING, -number)
  count(lane, COMPLETED, number)
end
local releases = #cascade > 0
work_off_cascade()
flush()
if refused > 0 then call('HINCRBY', P .. 'totals', 'refused', refused) end
-- Where something is limited, an end may be what others wait for.
if woken or releases or (ended_any and call('EXISTS', P .. 'limits') == 1) then
  announce('work')
end

local worker = take()
if worker == '' then return { 'ok', settled, 0, {} } end
local limit, most_suspects, lease = take_number(), take_number(), take_number()
local queues, kinds = {}, {}
for i = 1, take_number() do queues[i] = take() end
for i = 1, take_number() do kinds[i] = take() end
local number, unanswered = take(), {}
for _ = 1, take_number() do unanswered[take()] = true end
if call('HGET', P .. 'w:' .. worker, 's') ~= '0' then return { 'ok', settled, 1, {} } end

local claimed, bodies, held, lease_end = {}, {}, {}, digits(steady + lease)
local function add_claimed(id, token, lane, attempt, suspect)
  local at = #claimed
  claimed[at + 1], claimed[at + 2], claimed[at + 3] = id, token, lane
  claimed[at + 4], claimed[at + 5], claimed[at + 6] = attempt, suspect and 1 or 0, ''
  bodies[#bodies + 1] = P .. 'p:' .. id
  held[#held + 1] = lease_end
  held[#held + 1] = id
end
if next(unanswered) then
  for _, id in ipairs(call('ZRANGE', P .. 'held:' .. worker, 0, -1)) do
    local t = call('HMGET', P .. 't:' .. id, 'h', 't', 'l', 'a', 'u')
    if t[1] and unanswered[string.match(t[1], '([^\31]*)$')] then
      add_claimed(id, t[2], t[3], t[4], t[5])
    end
  end
  limit = math.max(limit - #bodies, 0)
end
local holder = worker .. '\31' .. now_text .. '\31' .. number
local taken_from = {}
for _, one in ipairs(find_candidates(queues, kinds, limit, most_suspects)) do
  local id, from = one[1], one[3]
  local key = P .. 't:' .. id
  local t = call('HMGET', key, 's', 't', 'a')
  local numbers = taken_from[from]
  if not numbers then
    numbers = { claimed = 0, seen = 0 }
    taken_from[from] = numbers
  end
  numbers.seen = numbers.seen + 1
  -- What is in the index only is nothing; `check` finds out why.
  if t[1] then
    local token, attempt = next_token(t[2]), tonumber(t[3] or 0) + 1
    call('HSET', key, 's', RUNNING, 't', token, 'h', holder, 'a', attempt)
    numbers.claimed = numbers.claimed + 1
    add_claimed(id, token, from.lane, attempt, from.suspect)
  end
end
for from, numbers in pairs(taken_from) do
  -- What was taken from an index were its first ones.
  call('ZREMRANGEBYRANK', P .. from.key, 0, numbers.seen - 1)
  count(from.lane, PENDING, -numbers.claimed)
  count(from.lane, RUNNING, numbers.claimed)
end
in_portions('ZADD', P .. 'held:' .. worker, held)
if #bodies > 0 then call('SADD', P .. 'holders', worker) end
flush()
for first = 1, #bodies, 2000 do
  local some = call('MGET', unpack(bodies, first, math.min(first + 1999, #bodies)))
  for i, body in ipairs(some) do claimed[6 * (first + i - 1)] = body or '' end
end
return { 'ok', settled, 0, claimed }
