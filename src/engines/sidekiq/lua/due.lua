-- Puts jobs of one class whose time has come back on their queues, as every Sidekiq process does for
-- all of them, but without a moment in between at which a job is nowhere.
--
-- Jobs of other classes may stand there by the thousands while nobody runs them. Of each set a part
-- is looked at: those that became due last, where one is that has just become due, and as many from
-- where the call before stopped.
--
-- ARGV    the class, and for retry and schedule how many of those that became due last were looked at
--         before.
-- Result  how many were moved, for each set the number for the next call, and of each queue that
--         takes none its name and why.
local window = 1000
local class = take()
local moved, refusals = 0, {}

-- With the time of now, in the style that the job has: seconds, or since Sidekiq 8 milliseconds.
local function stamped(text, job)
  local style = tonumber(job.created_at) or 0
  local at = style > 1e11 and now_text or string.format('%.6f', time[1] + time[2] / 1000000)
  local head = string.gsub(text, ',"enqueued_at":[%d%.eE+-]+}$', '}')
  return string.gsub(head, '}%s*$', ',"enqueued_at":' .. at .. '}')
end

-- One whose queue is no list stays where it is, and does not keep the others from being moved.
local function move(set, text, job)
  local pushed = redis.pcall('LPUSH', 'queue:' .. job.queue, (stamped(text, job)))
  if type(pushed) == 'table' then
    refusals[job.queue] = pushed.err
    return false
  end
  call('SADD', 'queues', job.queue)
  call('ZREM', set, text)
  moved = moved + 1
  return true
end

-- The number of jobs that were looked at, `before` and now, of those `due`; 0: these were the last.
local function look(set, due, before)
  local first = math.max(due - before - window, 0)
  if due <= before then return 0 end
  for _, text in ipairs(call('ZRANGE', set, first, due - before - 1)) do
    local ours = string.find(text, class, 1, true)
    local readable, job = pcall(cjson.decode, ours and text or '')
    local due_here = readable and job.class == class and type(job.queue) == 'string'
    if not due_here or not move(set, text, job) then before = before + 1 end
  end
  return first > 0 and before or 0
end

local places = {}
local until_now = string.format('%.6f', time[1] + time[2] / 1000000)
for _, set in ipairs({'retry', 'schedule'}) do
  local before = take_number()
  local place = look(set, call('ZCOUNT', set, '-inf', until_now), 0)
  if before > 0 then place = look(set, call('ZCOUNT', set, '-inf', until_now), before) end
  places[#places + 1] = place
end
local result = {moved, places[1], places[2]}
for queue, why in pairs(refusals) do
  result[#result + 1] = queue
  result[#result + 1] = why
end
return result
