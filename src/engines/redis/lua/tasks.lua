-- What the scripts that change tasks share: the indexes, the history, and what waits for what.
-- The keys of the indexes are described in keys.hpp.

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
  local of_state = counts[state]
  if not of_state then
    of_state = {}
    counts[state] = of_state
  end
  of_state[lane] = (of_state[lane] or 0) + by
end
-- Completed tasks are in the order of their ends: '=' and a time, then those that ended then. Who
-- leaves that state leaves a trace here, which `prune` passes over.
local completed = {}
local function write_completed(ids, at)
  if #ids == 0 then return end
  call('RPUSH', P .. 'completed', '=' .. at)
  in_portions('RPUSH', P .. 'completed', ids)
end
local function flush()
  write_completed(completed, now_text)
  completed = {}
  write_records()
  write_releases()
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
  -- Limits ask for the running ones alone, of which there are few.
  for state, of_state in pairs(counts) do
    for lane, by in pairs(of_state) do
      local key, field = P .. 'counts', lane .. '\31' .. state
      if state == RUNNING then key, field = P .. 'running', lane end
      if by ~= 0 and call('HINCRBY', key, field, by) == 0 then call('HDEL', key, field) end
    end
  end
  for lane in pairs(lanes) do
    call('SADD', P .. 'lanes:' .. string.match(lane, '\31([^\31]*)\31'), lane)
  end
  index, counts, lanes = {}, {}, {}
end

-- A lane is a queue, a kind and a limit key, with \31 between them. Within a lane, priority goes
-- before age: the order of a task has both, and so has the score of one that is ready.
local function queue_of(lane) return string.match(lane, '^[^\31]*') end
local ONE_PRIORITY = 8796093022208
-- `run_at`: a number, 0 for at once
local function index_pending(id, lane, order, run_at, suspect)
  if run_at > now then
    put('later:' .. lane, id, digits(run_at))
  else
    if run_at > 0 then
      local priority = math.floor(tonumber(order) / ONE_PRIORITY)
      order = digits(priority * ONE_PRIORITY + run_at)
    end
    put((suspect and 'alone:' or 'ready:') .. lane, id, order)
  end
  lanes[lane] = true
end
local function drop_pending(id, lane)
  drop('ready:' .. lane, id)
  drop('alone:' .. lane, id)
  drop('later:' .. lane, id)
end

local function add_history(id, from, to, actor, reason, token, attempt, claimed, worker)
  call('RPUSH', P .. 'h:' .. id, table.concat({ from, to, actor, token, attempt, claimed or '',
    worker or '', now_text, reason }, '\31'))
end

-- What is left to be done about tasks that wait for one which came to its end. A script does a
-- bounded part of it; the rest is in a list that every later exchange and recovery goes on with.
local cascade, budget = {}, 500
-- What becomes of tasks beside those that a script is about, for those who listen: id, lane, from,
-- to, actor, reason, token, attempt.
local told = {}
local function tell(...) told[#told + 1] = { ... } end
local EVERYTHING_COMPLETED = 'Everything it waited for has completed.'
local function release_one(id, on)
  call('SREM', P .. 'waits:' .. id, on)
  if call('EXISTS', P .. 'waits:' .. id) == 1 then return end
  local r = task_of(id)
  if not r or r.state ~= BLOCKED then return end
  change(id, r, { state = PENDING })
  drop('blocked', id)
  index_pending(id, r.lane, r.order, tonumber(r.run_at), unusual(id, r, 'u')[1])
  count(r.lane, BLOCKED, -1)
  count(r.lane, PENDING, 1)
  add_history(id, BLOCKED, PENDING, 'system/dependency', EVERYTHING_COMPLETED, 0, 0)
  tell(id, r.lane, BLOCKED, PENDING, 'system/dependency', EVERYTHING_COMPLETED, '0', '0')
end
local function cancel_one(id, on, actor)
  call('SREM', P .. 'waits:' .. id, on)
  local r = task_of(id)
  if not r or r.state ~= BLOCKED then return end
  local lane, reason = r.lane, 'waited for ' .. on .. ', which was cancelled'
  local more = unusual(id, r, 'uk', 'd')
  call('HSET', P .. 't:' .. id, 'e', reason)
  change(id, r, { state = CANCELLED, more = '+', finished = now_text })
  drop('blocked', id)
  put('done:' .. CANCELLED, id, now_text)
  count(lane, BLOCKED, -1)
  count(lane, CANCELLED, 1)
  if more[1] then call('HDEL', P .. 'unique', more[1]) end
  add_history(id, BLOCKED, CANCELLED, actor, reason, 0, 0)
  tell(id, lane, BLOCKED, CANCELLED, actor, reason, '0', '0')
  if more[2] then cascade[#cascade + 1] = { 'cancel', id, actor } end
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

-- A task has come to an end: its key is free, and what waits for it hears of it.
local function end_task(id, state, unique_key, has_dependents, actor)
  if state == COMPLETED then
    completed[#completed + 1] = id
  else
    put('done:' .. state, id, now_text)
  end
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
