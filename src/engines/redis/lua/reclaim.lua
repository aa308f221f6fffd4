-- Takes work back from workers that are dead or silent.
--
-- ARGV: report (see report.lua), number of verdicts; of each: id, token, expired (1, 0), cancel
--       requested (1, 0), to, attempt, crashes, suspect (1, 0), delay, reason, cause
-- Result: of each 1, or 0 if it no longer is an orphan of that claim
local begin_report = take_report()

local function is_orphan(id, worker, expired)
  if call('HGET', P .. 'w:' .. worker, 's') ~= '0' then return true end
  if not expired then return false end
  local lease_until = call('ZSCORE', P .. 'held:' .. worker, id)
  return not lease_until or tonumber(lease_until) < steady
end

local function take_back(v, t)
  local key, to, lane = P .. 't:' .. v.id, v.to, t[3]
  local worker, claimed_at = holder_of(t[5])
  local max = string.match(call('GET', P .. 'p:' .. v.id) or '', '^%d+') or 0
  local set = { 's', to, 't', next_token(v.token), 'a', v.attempt, 'v', (tonumber(t[6] or 0) + 1) }
  local function add(field, value) set[#set + 1] = field; set[#set + 1] = value end
  if v.crashes ~= '0' then add('y', v.crashes) end
  if v.suspect then add('u', 1) end
  if v.cause ~= '' then add('j', v.cause) end
  call('HDEL', key, 'x', not v.suspect and 'u' or 'x', v.crashes == '0' and 'y' or 'x')
  if to == PENDING then
    local run_at = v.delay > 0 and now + v.delay or 0
    add('r', digits(run_at))
    index_pending(v.id, lane, t[4], run_at, v.suspect)
  elseif to == HELD then
    put('on_hold', v.id, now_text)
  else
    add('f', now_text)
    add('e', v.reason)
    end_task(v.id, to, t[7], t[8], 'system/recovery')
  end
  call('HSET', key, unpack(set))
  drop('held:' .. worker, v.id)
  count(lane, RUNNING, -1)
  count(lane, to, 1)
  add_history(v.id, RUNNING, to, 'system/recovery', v.reason, v.token, v.attempt,
    claimed_at, worker)
  add_to_report(v.id, to, v.attempt, max, worker, v.reason)
end

local answers, any = {}, false
for i = 1, take_number() do
  local v = { id = take(), token = take(), expired = take() == '1', cancel = take() == '1',
    to = take(), attempt = take(), crashes = take(), suspect = take() == '1',
    delay = take_number(), reason = take(), cause = take() }
  local t = call('HMGET', P .. 't:' .. v.id, 's', 't', 'l', 'o', 'h', 'v', 'uk', 'd', 'x')
  local asked = t[9] and true or false
  answers[i] = 0
  if t[1] == RUNNING and t[2] == v.token and asked == v.cancel
    and is_orphan(v.id, (holder_of(t[5])), v.expired) then
    if not any then begin_report() end
    any = true
    take_back(v, t)
    answers[i] = 1
  end
end
continue_cascade()
flush()
if any then announce('work') end
return answers
