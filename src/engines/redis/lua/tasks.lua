-- What the scripts that change tasks share: the indexes, the history, and what waits for what.
-- Fields of a task and the keys of the indexes are described in keys.hpp.
local PENDING, RUNNING, COMPLETED, FAILED, CANCELLED, BLOCKED, HELD =
  '0', '1', '2', '3', '4', '5', '6'
local finished = { [COMPLETED] = true, [FAILED] = true, [CANCELLED] = true }

-- Changes of indexes are collected and written once for each index: the last word on a member
-- counts.
local index, counts, lanes = {}, {}, {}
local function put(key, id, score)
  local members = index[key]
  if not members then
    members = {}
    index[key] = members
  end
  members[id] = score
end
local function drop(key, id) put(key, id, false) end
local function count(lane, state, by)
  local field = lane .. '\31' .. state
  counts[field] = (counts[field] or 0) + by
end
local function flush()
  for key, members in pairs(index) do
    local add, remove = {}, {}
    for id, score in pairs(members) do
      if score then
        add[#add + 1] = score
        add[#add + 1] = id
      else
        remove[#remove + 1] = id
      end
    end
    in_portions('ZREM', P .. key, remove)
    in_portions('ZADD', P .. key, add)
  end
  for field, by in pairs(counts) do
    if by ~= 0 then call('HINCRBY', P .. 'counts', field, by) end
  end
  for queue, kinds in pairs(lanes) do
    for kind in pairs(kinds) do call('SADD', P .. 'queues:' .. kind, queue) end
  end
  index, counts, lanes = {}, {}, {}
end

-- A lane is a queue and a kind. Within a lane, priority goes before age: the score has both.
local function lane_of(queue, kind) return queue .. '\31' .. kind end
local function claim_order(priority, since) return priority * 8796093022208 + since end
local function index_pending(id, queue, kind, priority, run_at, created, suspect)
  local lane = lane_of(queue, kind)
  run_at = tonumber(run_at)
  if run_at > now then
    put('later:' .. lane, id, run_at)
  else
    local since = run_at == 0 and tonumber(created) or run_at
    put((suspect and 'alone:' or 'ready:') .. lane, id, claim_order(tonumber(priority), since))
  end
  lanes[queue] = lanes[queue] or {}
  lanes[queue][kind] = true
end
local function drop_pending(id, lane)
  drop('ready:' .. lane, id)
  drop('alone:' .. lane, id)
  drop('later:' .. lane, id)
end

local function add_history(id, from, to, actor, reason, token, attempt, claimed, worker)
  call('RPUSH', P .. 'h:' .. id, table.concat({ from, to, actor, token, attempt, claimed or '',
    worker or '', digits(now), reason }, '\31'))
end

-- What is left to be done about tasks that wait for one which came to its end. A script does a
-- bounded part of it; the rest is in a list that every later exchange and recovery goes on with.
local cascade, budget = {}, 500
local dependents_cancelled = {}
local function release_one(id, on)
  call('SREM', P .. 'waits:' .. id, on)
  if call('EXISTS', P .. 'waits:' .. id) == 1 then return end
  local t = call('HMGET', P .. 't:' .. id, 's', 'q', 'k', 'p', 'r', 'c', 'u')
  if t[1] ~= BLOCKED then return end
  call('HSET', P .. 't:' .. id, 's', PENDING)
  drop('blocked', id)
  index_pending(id, t[2], t[3], t[4], t[5], t[6], t[7])
  local lane = lane_of(t[2], t[3])
  count(lane, BLOCKED, -1)
  count(lane, PENDING, 1)
  add_history(id, BLOCKED, PENDING, 'system/dependency',
    'Everything it waited for has completed.', 0, 0)
end
local function cancel_one(id, on, actor)
  call('SREM', P .. 'waits:' .. id, on)
  local t = call('HMGET', P .. 't:' .. id, 's', 'q', 'k', 'uk', 'd')
  if t[1] ~= BLOCKED then return end
  local reason = 'waited for ' .. on .. ', which was cancelled'
  call('HSET', P .. 't:' .. id, 's', CANCELLED, 'f', digits(now), 'e', reason)
  drop('blocked', id)
  put('done:' .. CANCELLED, id, now)
  local lane = lane_of(t[2], t[3])
  count(lane, BLOCKED, -1)
  count(lane, CANCELLED, 1)
  if t[4] then call('HDEL', P .. 'unique', t[4]) end
  add_history(id, BLOCKED, CANCELLED, actor, reason, 0, 0)
  dependents_cancelled[#dependents_cancelled + 1] = { id, t[3], reason }
  if t[5] then cascade[#cascade + 1] = { 'cancel', id, actor } end
end
local function work_off_cascade()
  local at = 1
  while cascade[at] and budget > 0 do
    local what, on, actor = unpack(cascade[at])
    local some = call('SPOP', P .. 'after:' .. on, budget)
    budget = budget - #some
    for _, id in ipairs(some) do
      if what == 'release' then release_one(id, on) else cancel_one(id, on, actor) end
    end
    if budget > 0 then at = at + 1 end
  end
  for rest = at, #cascade do
    call('RPUSH', P .. 'cascade', table.concat(cascade[rest], '\31'))
  end
  cascade = {}
end
local function continue_cascade()
  for _ = 1, 20 do
    local entry = call('LPOP', P .. 'cascade')
    if not entry then break end
    local what, on, actor = string.match(entry, '^([^\31]*)\31([^\31]*)\31(.*)$')
    cascade[#cascade + 1] = { what, on, actor }
  end
  work_off_cascade()
end

-- `t` has come to an end: its key is free, and what waits for it hears of it.
local function end_task(id, state, unique_key, has_dependents, actor)
  put('done:' .. state, id, now)
  if unique_key then call('HDEL', P .. 'unique', unique_key) end
  if not has_dependents then return end
  if state == COMPLETED then
    cascade[#cascade + 1] = { 'release', id, '' }
  elseif state == CANCELLED then
    cascade[#cascade + 1] = { 'cancel', id, actor }
  end
end

-- Whoever waits for news of this store hears it; nobody need.
local function announce(what) call('PUBLISH', P .. 'news', what) end
