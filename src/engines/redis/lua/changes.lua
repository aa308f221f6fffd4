-- Changes of tasks as they were decided by lifecycle.hpp, for tasks that still are what they were
-- decided for.
--
-- A change among the arguments, which may be that of several tasks: state, token, attempt, asked to
-- stop (1, 0), waits for others (1, 0), as they were; then state, new token (1, 0), attempt,
-- crashes, one recovery more (1, 0), suspect (1, 0), asked to stop (1, 0), forget progress (1, 0),
-- not before ('': as it was, 0: at once, or so many milliseconds from now), finished now (1, 0), of
-- result, error and cause each: is set (1, 0) and what to ('': removed); entry of the history
-- before its time ('': none) and after it; who cancels what waits for it, if this does ('': it does
-- not matter to those who wait).
local function take_yes() return take() == '1' end
local function take_text()
  local set, text = take_yes(), take()
  return set and { text = text ~= '' and text }
end
local function take_time()
  local from_now = take()
  if from_now == '' or from_now == '0' then return from_now end
  return digits(now + from_now)
end
local function take_history()
  local before, after = take(), take()
  return before == '' and '' or before .. now_text .. after
end
local function take_before()
  return { state = take(), token = take(), attempt = take(), stops = take_yes(),
    waits = take_yes() }
end
local function take_change()
  return {
    before = take_before(),
    to = take(), new_token = take_yes(), attempt = take(), crashes = take(),
    recovered = take_yes(), suspect = take_yes(), stops = take_yes(), forget = take_yes(),
    run_at = take_time(), finished = take_yes() and now_text or '',
    result = take_text(), error = take_text(), cause = take_text(),
    history = take_history(), actor = take() }
end

-- What is longer has a place of its own: records are read by many who do not want it.
local LONGEST_RESULT = 200
local function is_long(result)
  return #result > LONGEST_RESULT or string.find(result, '\31', 1, true)
end

-- Those who wait for a cancelled task must hear of it before it begins again.
local function is_unheard(id)
  return call('EXISTS', P .. 'cascade') == 1 and call('EXISTS', P .. 'after:' .. id) == 1
end

-- What a change needs to know of a task beyond its record: asked to stop, unique key, others wait
-- for it, recoveries. Nothing if it is not the task any more that the change was decided for.
-- `ended`: tasks that it waits for no longer.
local function as_decided(c, id, r, ended)
  local b = c.before
  if r.state ~= b.state or r.token ~= b.token or r.attempt ~= b.attempt then return nil end
  local more = unusual(id, r, 'x', 'uk', 'd', 'v')
  if (more[1] and true or false) ~= b.stops then return nil end
  if (r.state == BLOCKED or finished[r.state] or r.state == HELD)
    and waits_for_more(id, ended or {}) ~= b.waits then return nil end
  if r.state == CANCELLED and more[3] and is_unheard(id) then return nil end
  -- Its key may be another's by now.
  if finished[r.state] and not finished[c.to] and more[2]
    and call('HEXISTS', P .. 'unique', more[2]) == 1 then return nil end
  return more
end

local function leave_state(id, r)
  local state, lane = r.state, r.lane
  if state == PENDING then drop_pending(id, lane)
  elseif state == RUNNING then release(r.worker, r.number, { id })
  elseif state == BLOCKED then drop('blocked', id)
  elseif state == HELD then drop('on_hold', id)
  elseif state ~= COMPLETED then drop('done:' .. state, id) end
end
-- Where a task of that state is listed, and its score there; nothing for those that are not.
local function index_of(c, r, new)
  if c.to == PENDING then
    return index_of_pending(r.lane, r.order, tonumber(new.run_at or r.run_at), c.suspect)
  end
  local key = c.to == BLOCKED and 'blocked' or c.to == HELD and 'on_hold'
    or c.to ~= COMPLETED and 'done:' .. c.to or nil
  return key, now_text
end
local function enter_state(c, id, r, more, new)
  local to, lane = c.to, r.lane
  if finished[r.state] and not finished[to] and more[2] then
    call('HSET', P .. 'unique', more[2], id)
  end
  local key, score = index_of(c, r, new)
  if key then put(key, id, score) end
  if finished[to] then
    end_task(id, to, not finished[r.state] and more[2], c.actor ~= '' and more[3] and c.actor)
  end
  count(lane, r.state, -1)
  count(lane, to, 1)
end

-- What a record becomes, and what of the rest is set and what removed.
local function new_values(c, r, recoveries)
  local new, set, clear = { state = c.to, attempt = c.attempt, finished = c.finished }, {}, {}
  local function field(name, value)
    if value then push(set, name, value) else push(clear, name) end
  end
  field('x', c.stops and 1)
  field('u', c.suspect and 1)
  field('y', c.crashes ~= '0' and c.crashes)
  if c.recovered then field('v', recoveries + 1) end
  if c.error then field('e', c.error.text) end
  if c.cause then field('j', c.cause.text) end
  if c.result then
    local text = c.result.text or ''
    new.result = is_long(text) and '' or text
    field('w', is_long(text) and text)
  end
  if c.forget then push(clear, 'gf', 'gt') end
  if c.run_at ~= '' then new.run_at = c.run_at end
  -- One that waited in the list of its lane is still there, and comes back by another way: by its
  -- token it is known that the list is not it.
  local comes_back = r.token == '0' and r.state ~= RUNNING and r.state ~= BLOCKED
    and (c.to == PENDING or c.to == BLOCKED)
  if c.new_token or comes_back then new.token = next_token() end
  if #set > 0 then new.more = '+' end
  return new, set, clear
end
local function write_unusual(id, set, history)
  if #set > 0 then call('HSET', P .. 't:' .. id, unpack(set)) end
  if history ~= '' then call('RPUSH', P .. 'h:' .. id, history) end
end

local function apply_change(c, id, r, more)
  local new, set, clear = new_values(c, r, tonumber(more[4] or 0))
  if c.to ~= r.state then
    leave_state(id, r)
    enter_state(c, id, r, more, new)
  end
  if r.more ~= '' and #clear > 0 then call('HDEL', P .. 't:' .. id, unpack(clear)) end
  write_unusual(id, set, c.history)
  change(id, r, new)
end

-- The same change of running tasks of one record, about which nothing is unusual; false where that
-- is not so. Written for many of them at a time, by `apply_alike`.
local function alike_change(c, text)
  local r, b = text and parse(text), c.before
  local same = r and r.state == b.state and r.token == b.token and r.attempt == b.attempt
  if not same or r.state ~= RUNNING or c.to == RUNNING then return false end
  if r.more ~= '' or b.stops then return false end
  local new, set = new_values(c, r, 0)
  local key, score = index_of(c, r, new)
  return { r = r, set = set, text = record_text(r, new), key = key, score = score,
    history = c.history, to = c.to }
end
local function apply_alike(change, ids)
  local records, listed, n = {}, {}, 0
  for _, id in ipairs(ids) do
    write_unusual(id, change.set, change.history)
    records[n + 1], records[n + 2] = id, change.text
    listed[n + 1], listed[n + 2] = change.score, id
    n = n + 2
    if known[id] then known[id] = change.text end
  end
  in_portions('HSET', P .. 'tasks', records)
  if change.key then
    in_portions('ZADD', P .. change.key, listed)
  else
    write_completed(ids, now_text)
  end
  local r = change.r
  release(r.worker, r.number, ids)
  count(r.lane, r.state, -#ids)
  count(r.lane, change.to, #ids)
end
