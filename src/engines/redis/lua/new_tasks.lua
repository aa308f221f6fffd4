-- Inserting tasks: first everything is looked at, then everything is written, because a script that
-- stops half-way is not undone.
--
-- Tasks among the arguments: number of runs; of each run: how many tasks it has, whether their ids
-- were made for them just now (1, 0), lane, priority, delay, at ('' or a time), unique key, number
-- of tasks that they wait for, their ids; then id and body (see keys.hpp) of each task. One that
-- has a key or waits for others is a run of its own.
--
-- A task that is to be inserted is known by the place of its id among the arguments, where its body
-- is the next: a table for each would cost more than all else that is done here for it.
local doubtful = false -- something may be wrong with one of them
local head_of_new, existing = {}, {}
local function take_tasks()
  local list, n = {}, 0
  for _ = 1, take_number() do
    local last = n + take_number()
    local head = { new_ids = take() == '1', lane = take(), priority = take_number(),
      delay = take_number(), at = take(), key = take() }
    for i = 1, take_number() do
      head.after = head.after or {}
      head.after[i] = take()
    end
    doubtful = doubtful or not head.new_ids or head.key ~= '' or head.after ~= nil
    while n < last do
      n = n + 1
      list[n], head_of_new[taken + 1] = taken + 1, head
      taken = taken + 2
    end
  end
  return list
end

local function queue_and_kind(lane) return string.match(lane, '^[^\31]*\31[^\31]*') end
local function payload_of(body)
  return string.match(body or '', '^[^\31]*\31[^\31]*\31[^\31]*\31[^\31]*\31(.*)$')
end

-- What is in the store from now on because of tasks that are about to be written.
local fresh, fresh_keys = {}, {}

-- Nothing, or what is wrong and the id that it is about. `existing[t]` is set if there is nothing
-- to write.
local function check_task(t)
  local id, body, head = ARGV[t], ARGV[t + 1], head_of_new[t]
  local same = fresh[id]
  local there = not same and not head.new_ids and task_of(id)
  if same or there then
    local lane = same and head_of_new[same].lane or there.lane
    local other = same and ARGV[same + 1] or call('GET', P .. 'p:' .. id)
    if queue_and_kind(lane) ~= queue_and_kind(head.lane) or payload_of(other) ~= payload_of(body)
    then
      return 'exists', id
    end
    existing[t] = id
    return
  end
  if head.key ~= '' then
    existing[t] = fresh_keys[head.key] or call('HGET', P .. 'unique', head.key) or nil
    if existing[t] then return end
    fresh_keys[head.key] = id
  end
  for _, on in ipairs(head.after or {}) do
    if not fresh[on] then
      local r = task_of(on)
      if not r then return 'unknown', on end
      if r.state == CANCELLED then return 'cancelled', on end
    end
  end
  fresh[id] = t
end
local function check_tasks(list)
  local named, n = {}, 0
  for _, t in ipairs(list) do
    if not head_of_new[t].new_ids then
      n = n + 1
      named[n] = ARGV[t]
    end
  end
  look_up(named)
  for i = 1, #list do
    local t = list[i]
    local head, id = head_of_new[t], ARGV[t]
    local plain = head.key == '' and not head.after
    if plain and (head.new_ids or (known[id] == false and not fresh[id])) then
      if not head.new_ids then fresh[id] = t end
    else
      local wrong, about = check_task(t)
      if wrong then return wrong, about end
    end
  end
end

local function write_links(id, waits)
  call('SADD', P .. 'waits:' .. id, unpack(waits))
  for _, on in ipairs(waits) do
    local r = task_of(on)
    call('SADD', P .. 'after:' .. on, id)
    if r then
      call('HSET', P .. 't:' .. on, 'd', 1)
      has_unusual(on, r)
    end
  end
end

-- Which of these are yet to complete.
local function unfinished(after)
  local waits = {}
  for _, on in ipairs(after) do
    local r = not fresh[on] and task_of(on)
    local state = r and r.state
    if state ~= COMPLETED then waits[#waits + 1] = on end
    -- Only a settlement can end a task between the check and this: see exchange.lua.
    if state == CANCELLED then tell_dependents('cancel', on, '') end
  end
  return waits
end

-- What is longer is not kept twice, in the list of its lane; and where many wait, no body is: a slot
-- of a cluster is moved key by key, so none may be very large.
local LONGEST_LISTED_BODY, MOST_LISTED = 256, 200000
local USUAL_PRIORITY = 3

-- What the tasks of a run have in common.
local function prepare(head)
  head.waits = head.after and unfinished(head.after) or {}
  head.state = #head.waits > 0 and BLOCKED or PENDING
  local run_at = head.at ~= '' and tonumber(head.at) or (head.delay > 0 and now + head.delay or 0)
  local order = head.priority * ONE_PRIORITY
  head.text = table.concat({ head.state, head.key ~= '' and '+' or '', '0', '0',
    digits(order + now), digits(run_at), '', '', '', '', '', head.lane }, '\31')
  if head.state == BLOCKED then
    head.index, head.score = 'blocked', now_text
  elseif run_at > now then
    head.index, head.score = 'later:' .. head.lane, digits(run_at)
  elseif run_at == 0 and head.priority == USUAL_PRIORITY then
    head.list, head.index = '=' .. digits(order + now), 'fresh:' .. head.lane
    local many = call('LLEN', P .. head.index) >= MOST_LISTED
    head.longest = many and 0 or LONGEST_LISTED_BODY
  else
    head.index, head.score = 'ready:' .. head.lane, digits(order + (run_at > 0 and run_at or now))
  end
  if head.state == PENDING then lanes[head.lane] = true end
end

-- The arguments of the command that puts tasks into their index.
local function place_of(places, head)
  local place = places[head.index]
  if not place then
    place = { command = head.list and 'RPUSH' or 'ZADD', n = 0, plain = true, lane = head.lane }
    places[head.index] = place
  end
  if head.list and place.marker ~= head.list then
    place.n, place.marker = place.n + 1, head.list
    place[place.n] = head.list
  end
  place.plain = place.plain and head.key == ''
  return place
end

local function put_in_place(key, place)
  in_portions(place.command, P .. key, place)
  if not place.marker then return end
  if not place.plain then
    disturb(place.lane)
  elseif call('LLEN', P .. key) == place.n then
    call('SADD', P .. 'intact', place.lane)
  end
end

local function write_key(id, key)
  call('HSET', P .. 't:' .. id, 'uk', key)
  call('HSET', P .. 'unique', key, id)
end

-- Returns of those that are not simply new and pending: place in the list (from 0), id, state ('' if
-- it was there already).
local function write_tasks(list)
  local others, heads, linked, places = {}, {}, {}, {}
  local records, bodies, all, n = {}, {}, {}, 0
  local number, body_key = call('INCRBY', P .. 'seq', #list) - #list, P .. 'p:'
  local head, place
  for i = 1, #list do
    local t = list[i]
    local id, body = ARGV[t], ARGV[t + 1]
    if existing[t] then
      push(others, i - 1, existing[t], '')
    else
      -- Mostly the same as before.
      if head ~= head_of_new[t] then
        head = head_of_new[t]
        if not head.text then
          prepare(head)
          head.written, heads[#heads + 1] = 0, head
        end
        place = place_of(places, head)
      end
      head.written = head.written + 1
      records[n + 1], records[n + 2] = id, head.text
      bodies[n + 1], bodies[n + 2] = body_key .. id, body
      -- As a text: how Redis writes numbers of Lua is made for fractions, and slow.
      all[n + 1], all[n + 2] = string.format('%d', number + i), id
      n = n + 2
      local to = place.n
      if head.list then
        place[to + 1], place[to + 2] = id, #body <= head.longest and body or ''
      else
        place[to + 1], place[to + 2] = head.score, id
      end
      place.n = to + 2
      if not head.new_ids then known[id] = head.text end
      if head.key ~= '' then write_key(id, head.key) end
      if #head.waits > 0 then
        linked[#linked + 1] = t
        push(others, i - 1, id, head.state)
      end
    end
  end
  in_portions('HSET', P .. 'tasks', records)
  for first = 1, n, 2000 do
    call('MSET', unpack(bodies, first, math.min(first + 1999, n)))
  end
  in_portions('ZADD', P .. 'all', all)
  for key, each in pairs(places) do put_in_place(key, each) end
  for _, each in ipairs(heads) do count(each.lane, each.state, each.written) end
  for _, t in ipairs(linked) do write_links(ARGV[t], head_of_new[t].waits) end
  return others
end
