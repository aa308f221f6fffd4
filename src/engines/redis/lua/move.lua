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

local function leave(id, state, lane, worker)
  if state == PENDING then drop_pending(id, lane)
  elseif state == RUNNING then drop('held:' .. worker, id)
  elseif state == BLOCKED then drop('blocked', id)
  elseif state == HELD then drop('on_hold', id)
  else drop('done:' .. state, id) end
end

local function apply(id, t, to)
  local key, lane, state = P .. 't:' .. id, t[3], t[1]
  local worker, claimed_at = holder_of(t[5])
  local was_running = state == RUNNING
  local token = was_running and next_token(t[2]) or t[2] or '0'
  local attempt = fresh_attempts and '0' or t[6] or '0'
  local set, clear = { 's', to, 't', token, 'a', attempt }, { 'w', 'x', 'f', 'j' }
  local function add(field, value) set[#set + 1] = field; set[#set + 1] = value end
  local function remove(field) clear[#clear + 1] = field end
  if fresh_attempts then remove('y') remove('u') end
  local suspect = not fresh_attempts and t[7]
  leave(id, state, lane, worker)
  local runs_again = to == PENDING or to == BLOCKED
  if runs_again then
    if fresh_attempts then remove('e') end
    remove('gf') remove('gt')
    if finished[state] and t[8] then call('HSET', P .. 'unique', t[8], id) end
  end
  call('HDEL', key, unpack(clear))
  if to == PENDING then
    -- At once; but one whose time had not come may still wait for it.
    local run_at = state == HELD and (t[6] or '0') == '0' and tonumber(t[11] or 0) or 0
    add('r', digits(run_at))
    index_pending(id, lane, t[4], run_at, suspect)
    ready = true
  elseif to == BLOCKED then
    put('blocked', id, now_text)
  elseif to == HELD then
    add('j', reason)
    put('on_hold', id, now_text)
  else
    add('f', now_text)
    add('e', reason)
    end_task(id, to, not finished[state] and t[8], t[9], actor)
  end
  call('HSET', key, unpack(set))
  count(lane, state, -1)
  count(lane, to, 1)
  stopped = stopped or was_running
  freed = freed or was_running
  add_history(id, state, to, actor, reason, t[2] or '0', attempt, was_running and claimed_at,
    was_running and worker)
  changes[#changes + 1] = { id, lane, state, to, t[2] or '0', attempt, reason, 1 }
end

for _ = 1, take_number() do
  local id = take()
  local t = call('HMGET', P .. 't:' .. id, 's', 't', 'l', 'o', 'h', 'a', 'u', 'uk', 'd', 'x', 'r')
  if t[1] == RUNNING and ask then
    if not t[10] then
      call('HSET', P .. 't:' .. id, 'x', 1)
      local worker, claimed_at = holder_of(t[5])
      add_history(id, RUNNING, RUNNING, actor, reason_to_stop, t[2], t[6] or '0', claimed_at, worker)
      asked = asked + 1
      stopped = true
    end
  elseif t[1] then
    local to = target
    if to == PENDING and call('EXISTS', P .. 'waits:' .. id) == 1 then to = BLOCKED end
    local sources = to == BLOCKED and from_to_blocked or from
    -- Where another unfinished task has the key by now, running both would break what it promises.
    local key_taken = finished[t[1]] and not finished[to] and t[8]
      and call('HEXISTS', P .. 'unique', t[8]) == 1
    if string.find(sources, t[1], 1, true) and not key_taken then apply(id, t, to) end
  end
end
work_off_cascade()
flush()
for _, one in ipairs(dependents_cancelled) do
  changes[#changes + 1] = { one[1], one[2], BLOCKED, CANCELLED, '0', '0', one[3], 0 }
end
if stopped then announce('control') end
if ready or freed then announce('work') end
return { asked, changes }
