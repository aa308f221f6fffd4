-- Inserting tasks: first everything is looked at, then everything is written, because a script that
-- stops half-way is not undone.
--
-- A task among the arguments: id, kind, queue, priority, delay, at ('' or a time), max attempts,
-- timeout, backoff, unique key, tags, payload, number of ids that it waits for, these ids.
local function take_task()
  local t = { id = take(), kind = take(), queue = take(), priority = take(), delay = take_number(),
    at = take(), max = take(), timeout = take(), backoff = take(), key = take(), tags = take(),
    payload = take(), after = {} }
  for i = 1, take_number() do t.after[i] = take() end
  return t
end

-- What is in the store from now on because of tasks that are about to be written.
local fresh, fresh_keys = {}, {}

-- Nothing, or what is wrong and the id that it is about. `t.existing` is set if there is nothing to
-- write.
local function check_task(t)
  local same = fresh[t.id]
  if same then
    if same.kind ~= t.kind or same.queue ~= t.queue or same.payload ~= t.payload then
      return 'exists', t.id
    end
    t.existing = t.id
    return
  end
  local known = call('HMGET', P .. 't:' .. t.id, 'k', 'q')
  if known[1] then
    if known[1] ~= t.kind or known[2] ~= t.queue
      or call('GET', P .. 'p:' .. t.id) ~= t.payload then
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
  for _, on in ipairs(t.after) do
    if not fresh[on] then
      local state = call('HGET', P .. 't:' .. on, 's')
      if not state then return 'unknown', on end
      if state == CANCELLED then return 'cancelled', on end
    end
  end
  fresh[t.id] = t
end

-- Returns for each: the id that it has now, and whether it was created.
local function write_tasks(list)
  local answers, payloads, written = {}, {}, 0
  local all = {}
  local n = call('INCRBY', P .. 'seq', #list) - #list
  for _, t in ipairs(list) do
    answers[#answers + 1] = t.existing or t.id
    answers[#answers + 1] = t.existing and 0 or 1
    if not t.existing then
      local run_at = t.at ~= '' and tonumber(t.at) or (t.delay > 0 and now + t.delay or 0)
      local waits, dead = {}, {}
      for _, on in ipairs(t.after) do
        local state = call('HGET', P .. 't:' .. on, 's')
        if state ~= COMPLETED then waits[#waits + 1] = on end
        if state == CANCELLED then dead[#dead + 1] = on end
      end
      local state = #waits > 0 and BLOCKED or PENDING
      n = n + 1
      local h = { 'k', t.kind, 'q', t.queue, 's', state, 'p', t.priority, 'r', digits(run_at),
        't', 0, 'a', 0, 'c', digits(now), 'm', t.max, 'i', t.timeout, 'n', digits(n) }
      if t.backoff ~= '' then h[#h + 1] = 'b'; h[#h + 1] = t.backoff end
      if t.tags ~= '' then h[#h + 1] = 'g'; h[#h + 1] = t.tags end
      if t.key ~= '' then
        h[#h + 1] = 'uk'; h[#h + 1] = t.key
        call('HSET', P .. 'unique', t.key, t.id)
      end
      call('HSET', P .. 't:' .. t.id, unpack(h))
      payloads[#payloads + 1] = P .. 'p:' .. t.id
      payloads[#payloads + 1] = t.payload
      all[#all + 1] = digits(n)
      all[#all + 1] = t.id
      count(lane_of(t.queue, t.kind), state, 1)
      if state == PENDING then
        index_pending(t.id, t.queue, t.kind, t.priority, run_at, now, false)
      else
        put('blocked', t.id, n)
        call('SADD', P .. 'waits:' .. t.id, unpack(waits))
        for _, on in ipairs(waits) do
          call('SADD', P .. 'after:' .. on, t.id)
          call('HSET', P .. 't:' .. on, 'd', 1)
        end
        -- Only a settlement can end a task between the check and this: see exchange.lua.
        for _, on in ipairs(dead) do cascade[#cascade + 1] = { 'cancel', on, 'system/dependency' } end
      end
    end
  end
  for first = 1, #payloads, 2000 do
    call('MSET', unpack(payloads, first, math.min(first + 1999, #payloads)))
  end
  in_portions('ZADD', P .. 'all', all)
  return answers
end
