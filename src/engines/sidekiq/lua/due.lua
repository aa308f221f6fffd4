-- Puts jobs of one class whose time has come back on their queues, as every Sidekiq process does for
-- all of them, but without a moment in between at which a job is nowhere.
--
-- Jobs of other classes may stand there by the thousands while nobody runs them. Of each set a part
-- is looked at: those that became due last, where one is that has just become due, and as many from
-- where the call before stopped.
--
-- ARGV    the class, and for retry and schedule how many of those that became due last were looked at
--         before.
-- Result  how many were moved, and for each set the number for the next call.
local window = 1000
local class = take()
local moved = 0

-- With the time of now, in the style that the job has: seconds, or since Sidekiq 8 milliseconds.
local function stamped(text, job)
  local style = tonumber(job.created_at) or 0
  local at = style > 1e11 and now_text or string.format('%.6f', time[1] + time[2] / 1000000)
  local head = string.gsub(text, ',"enqueued_at":[%d%.eE+-]+}$', '}')
  return string.gsub(head, '}%s*$', ',"enqueued_at":' .. at .. '}')
end

-- The number of jobs that were looked at, `before` and now, of those `due`; 0: these were the last.
local function look(set, due, before)
  local first = math.max(due - before - window, 0)
  if due <= before then return 0 end
  for _, text in ipairs(call('ZRANGE', set, first, due - before - 1)) do
    local ours = string.find(text, class, 1, true)
    local readable, job = pcall(cjson.decode, ours and text or '')
    if readable and job.class == class and type(job.queue) == 'string' then
      call('SADD', 'queues', job.queue)
      call('LPUSH', 'queue:' .. job.queue, (stamped(text, job)))
      call('ZREM', set, text)
      moved = moved + 1
    else
      before = before + 1
    end
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
return {moved, places[1], places[2]}
