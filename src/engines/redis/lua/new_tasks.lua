-- Inserting tasks: first everything is looked at, then everything is written, because a script that
-- stops half-way is not undone.
--
-- A task among the arguments: id, whether the id was made for it just now (1, 0), lane, priority,
-- delay, at ('' or a time), unique key, body (see keys.hpp), number of tasks that it waits for,
-- their ids.
local function take_task()
  local at = taken
  local t = { id = ARGV[at + 1], new_id = ARGV[at + 2] == '1', lane = ARGV[at + 3],
    priority = ARGV[at + 4], delay = tonumber(ARGV[at + 5]), at = ARGV[at + 6],
    key = ARGV[at + 7], body = ARGV[at + 8] }
  local waits = tonumber(ARGV[at + 9])
  taken = at + 9
  if waits > 0 then
    t.after = {}
    for i = 1, waits do t.after[i] = take() end
  end
  return t
end

local function queue_and_kind(lane) return string.match(lane, '^[^\31]*\31[^\31]*') end
local function payload_of(body)
  return string.match(body or '', '^[^\31]*\31[^\31]*\31[^\31]*\31[^\31]*\31(.*)$')
end

-- What is in the store from now on because of tasks that are about to be written.
local fresh, fresh_keys = {}, {}

-- Nothing, or what is wrong and the id that it is about. `t.existing` is set if there is nothing to
-- write.
local function check_task(t)
  local same = fresh[t.id]
  if same then
    if queue_and_kind(same.lane) ~= queue_and_kind(t.lane)
      or payload_of(same.body) ~= payload_of(t.body) then
      return 'exists', t.id
    end
    t.existing = t.id
    return
  end
  local known = not t.new_id and call('HGET', P .. 't:' .. t.id, 'l')
  if known then
    if queue_and_kind(known) ~= queue_and_kind(t.lane)
      or payload_of(call('GET', P .. 'p:' .. t.id)) ~= payload_of(t.body) then
      return 'exists', t.id
    end
    t.existing = t.id
    return
  end
  if t.key ~= '' then
    t.existing = fresh_keys[t.key] or call('HGET', P .. 'unique', t.key)
    if t.existing then return end
    fresh_keys[t.key] = t.id
  end
  for _, on in ipairs(t.after or {}) do
    if not fresh[on] then
      local state = call('HGET', P .. 't:' .. on, 's')
      if not state then return 'unknown', on end
      if state == CANCELLED then return 'cancelled', on end
    end
  end
  fresh[t.id] = t
end

local function write_links(t, waits)
  call('SADD', P .. 'waits:' .. t.id, unpack(waits))
  for _, on in ipairs(waits) do
    call('SADD', P .. 'after:' .. on, t.id)
    call('HSET', P .. 't:' .. on, 'd', 1)
  end
end

-- What it still waits for.
local function unfinished(t)
  local waits = {}
  for _, on in ipairs(t.after or {}) do
    local state = call('HGET', P .. 't:' .. on, 's')
    if state ~= COMPLETED then waits[#waits + 1] = on end
    -- Only a settlement can end a task between the check and this: see exchange.lua.
    if state == CANCELLED then cascade[#cascade + 1] = { 'cancel', on, 'system/dependency' } end
  end
  return waits
end

-- Returns for each: the id that it has now, and whether it was created.
local function write_tasks(list)
  local answers, bodies, all = {}, {}, {}
  local n = call('INCRBY', P .. 'seq', #list) - #list
  for i, t in ipairs(list) do
    answers[2 * i - 1] = t.existing or t.id
    answers[2 * i] = t.existing and 0 or 1
    if not t.existing then
      local run_at = t.at ~= '' and tonumber(t.at) or (t.delay > 0 and now + t.delay or 0)
      local waits = t.after and unfinished(t) or {}
      local state = #waits > 0 and BLOCKED or PENDING
      local order = digits(tonumber(t.priority) * ONE_PRIORITY + now)
      local key = P .. 't:' .. t.id
      if run_at == 0 and t.key == '' then
        call('HSET', key, 's', state, 'l', t.lane, 'o', order)
      else
        call('HSET', key, 's', state, 'l', t.lane, 'o', order, 'r', digits(run_at))
        if t.key ~= '' then
          call('HSET', key, 'uk', t.key)
          call('HSET', P .. 'unique', t.key, t.id)
        end
      end
      bodies[#bodies + 1] = P .. 'p:' .. t.id
      bodies[#bodies + 1] = t.body
      all[#all + 1] = n + i
      all[#all + 1] = t.id
      count(t.lane, state, 1)
      if state == PENDING then
        index_pending(t.id, t.lane, order, run_at, false)
      else
        put('blocked', t.id, now_text)
        write_links(t, waits)
      end
    end
  end
  for first = 1, #bodies, 2000 do
    call('MSET', unpack(bodies, first, math.min(first + 1999, #bodies)))
  end
  in_portions('ZADD', P .. 'all', all)
  return answers
end
