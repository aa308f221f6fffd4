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
-- Ends of tasks that others wait for; see dependents.lua.
local ends = {}
local function tell_dependents(what, id, actor) ends[#ends + 1] = { what, id, actor } end
local function write_ends()
  for _, one in ipairs(ends) do
    if call('EXISTS', P .. 'after:' .. one[2]) == 1 then
      call('RPUSH', P .. 'cascade', table.concat(one, '\31'))
    end
  end
  ends = {}
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
  write_ends()
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
-- The index of a pending task, and its score there. `run_at`: a number, 0 for at once
local function index_of_pending(lane, order, run_at, suspect)
  lanes[lane] = true
  if run_at > now then return 'later:' .. lane, digits(run_at) end
  if run_at > 0 then
    local priority = math.floor(tonumber(order) / ONE_PRIORITY)
    order = digits(priority * ONE_PRIORITY + run_at)
  end
  return (suspect and 'alone:' or 'ready:') .. lane, order
end
local function index_pending(id, ...)
  local key, score = index_of_pending(...)
  put(key, id, score)
end
local function drop_pending(id, lane)
  drop('ready:' .. lane, id)
  drop('alone:' .. lane, id)
  drop('later:' .. lane, id)
end

-- A task has come to an end: its key is free, and what waits for it is to hear of it. `actor`: who
-- cancels that, if this does; nothing if it does not matter to those who wait.
local function end_task(id, state, unique_key, actor)
  if state == COMPLETED then completed[#completed + 1] = id end
  if unique_key then call('HDEL', P .. 'unique', unique_key) end
  if actor then tell_dependents(state == COMPLETED and 'release' or 'cancel', id, actor) end
end

-- Whoever waits for news of this store hears it; nobody need.
local function announce(what) call('PUBLISH', P .. 'news', what) end
