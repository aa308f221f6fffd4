-- Takes work back from workers that are dead or silent.
--
-- ARGV: report (see report.lua), number of verdicts; of each: id, token, expired (1, 0), end of the
--       lease for who decided, cancel requested (1, 0), to, attempt, crashes, suspect (1, 0), delay,
--       reason, cause
-- Result: of each 1, or 0 if it no longer is an orphan of that claim
local begin_report = take_report()

local function is_orphan(id, worker, expired, lease_end)
  local w = call('HMGET', P .. 'w:' .. worker, 's', 'lease')
  if w[1] ~= '0' then return true end
  if not expired then return false end
  local one = held_by(worker)[id]
  return not one or (one.lease_end == lease_end and past_its_time(lease_end, w[2]) ~= nil)
end

local function take_back(v, r, more)
  local key, to, set = P .. 't:' .. v.id, v.to, { 'v', tonumber(more[1] or 0) + 1 }
  local new = { state = to, more = '+', token = next_token(), attempt = v.attempt }
  local max = string.match(call('GET', P .. 'p:' .. v.id) or '', '^%d+') or 0
  local function add(field, value) set[#set + 1] = field; set[#set + 1] = value end
  if v.crashes ~= '0' then add('y', v.crashes) end
  if v.suspect then add('u', 1) end
  if v.cause ~= '' then add('j', v.cause) end
  call('HDEL', key, 'x', not v.suspect and 'u' or 'x', v.crashes == '0' and 'y' or 'x')
  if to == PENDING then
    local run_at = v.delay > 0 and now + v.delay or 0
    new.run_at = digits(run_at)
    index_pending(v.id, r.lane, r.order, run_at, v.suspect)
  elseif to == HELD then
    put('on_hold', v.id, now_text)
  else
    new.finished = now_text
    add('e', v.reason)
    end_task(v.id, to, more[2], more[3], 'system/recovery')
  end
  call('HSET', key, unpack(set))
  change(v.id, r, new)
  release(r.worker, r.number, { v.id })
  count(r.lane, RUNNING, -1)
  count(r.lane, to, 1)
  add_history(v.id, RUNNING, to, 'system/recovery', v.reason, v.token, v.attempt, r.claimed,
    r.worker)
  add_to_report(v.id, to, v.attempt, max, r.worker, v.reason)
end

local answers, any = {}, false
for i = 1, take_number() do
  local v = { id = take(), token = take(), expired = take() == '1', lease_end = take_number(),
    cancel = take() == '1',
    to = take(), attempt = take(), crashes = take(), suspect = take() == '1',
    delay = take_number(), reason = take(), cause = take() }
  local r = task_of(v.id)
  answers[i] = 0
  if r and r.state == RUNNING and r.token == v.token
    and is_orphan(v.id, r.worker, v.expired, v.lease_end) then
    local more = unusual(v.id, r, 'v', 'uk', 'd', 'x')
    if (more[4] and true or false) == v.cancel then
      if not any then begin_report() end
      any = true
      take_back(v, r, more)
      answers[i] = 1
    end
  end
end
continue_cascade()
flush()
if any then announce('work') end
return answers
