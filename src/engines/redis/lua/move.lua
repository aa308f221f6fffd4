-- Moves tasks at an operator's word.
--
-- ARGV: to, states from which it may go there, states from which it may go to blocked (both as one
--       string of digits), fresh attempts (1, 0), ask running (1, 0), actor, reason, reason for
--       those that are asked to stop, number of ids, these
-- Result: {asked to stop, changes}; of each change: id, lane, from, to, token, attempt, reason,
--         1 if it was named (0: it waited for one that was cancelled)
local target, from, from_to_blocked = take(), take(), take()
local fresh_attempts, ask, actor, reason = take() == '1', take() == '1', take(), take()
local reason_to_stop = take()
local asked, changes, ready, stopped, freed = 0, {}, false, false, false

local function leave(id, r)
  local state, lane = r.state, r.lane
  if state == PENDING then drop_pending(id, lane)
  elseif state == RUNNING then release(r.worker, r.number, { id })
  elseif state == BLOCKED then drop('blocked', id)
  elseif state == HELD then drop('on_hold', id)
  elseif state ~= COMPLETED then drop('done:' .. state, id) end
end

-- `more`: suspect, unique key, others wait for it, asked to stop
local function apply(id, r, more, to)
  local key, lane, state = P .. 't:' .. id, r.lane, r.state
  local was_running = state == RUNNING
  local new = { state = to, attempt = fresh_attempts and '0' or r.attempt, finished = '',
    result = '' }
  local set, clear = {}, { 'w', 'x', 'j' }
  local function remove(field) clear[#clear + 1] = field end
  -- One that waited in the list of its lane is still there, and comes back by another way: by its
  -- token it is known that the list is not it.
  local comes_back = r.token == '0' and (to == PENDING or to == BLOCKED)
  if was_running or comes_back then new.token = next_token() end
  if fresh_attempts then remove('y') remove('u') end
  leave(id, r)
  if to == PENDING or to == BLOCKED then
    if fresh_attempts then remove('e') end
    remove('gf') remove('gt')
    if finished[state] and more[2] then call('HSET', P .. 'unique', more[2], id) end
  end
  if r.more ~= '' then call('HDEL', key, unpack(clear)) end
  if to == PENDING then
    -- At once; but one whose time had not come may still wait for it.
    local run_at = state == HELD and r.attempt == '0' and tonumber(r.run_at) or 0
    new.run_at = digits(run_at)
    index_pending(id, lane, r.order, run_at, not fresh_attempts and more[1])
    ready = true
  elseif to == BLOCKED then
    put('blocked', id, now_text)
  elseif to == HELD then
    set = { 'j', reason }
    put('on_hold', id, now_text)
  else
    new.finished = now_text
    set = { 'e', reason }
    end_task(id, to, not finished[state] and more[2], more[3], actor)
  end
  if #set > 0 then
    call('HSET', key, unpack(set))
    new.more = '+'
  end
  change(id, r, new)
  count(lane, state, -1)
  count(lane, to, 1)
  stopped = stopped or was_running
  freed = freed or was_running
  add_history(id, state, to, actor, reason, r.token, new.attempt, was_running and r.claimed,
    was_running and r.worker)
  changes[#changes + 1] = { id, lane, state, to, r.token, new.attempt, reason, 1 }
end

local function ask_to_stop(id, r)
  call('HSET', P .. 't:' .. id, 'x', 1)
  has_unusual(id, r)
  add_history(id, RUNNING, RUNNING, actor, reason_to_stop, r.token, r.attempt, r.claimed, r.worker)
  asked = asked + 1
  stopped = true
end

for _ = 1, take_number() do
  local id = take()
  local r = task_of(id)
  local more = r and unusual(id, r, 'u', 'uk', 'd', 'x')
  if r and r.state == RUNNING and ask then
    if not more[4] then ask_to_stop(id, r) end
  elseif r then
    local to = target
    if to == PENDING and call('EXISTS', P .. 'waits:' .. id) == 1 then to = BLOCKED end
    local sources = to == BLOCKED and from_to_blocked or from
    -- Where another unfinished task has the key by now, running both would break what it promises.
    local key_taken = finished[r.state] and not finished[to] and more[2]
      and call('HEXISTS', P .. 'unique', more[2]) == 1
    if string.find(sources, r.state, 1, true) and not key_taken then apply(id, r, more, to) end
  end
end
work_off_cascade()
flush()
for _, one in ipairs(told) do
  local dependent, lane, state, to, _, why, token, attempt = unpack(one)
  changes[#changes + 1] = { dependent, lane, state, to, token, attempt, why, 0 }
end
if stopped then announce('control') end
if ready or freed then announce('work') end
return { asked, changes }
