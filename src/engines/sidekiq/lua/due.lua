-- Puts jobs of one class whose time has come back on their queues, as every Sidekiq process does for
-- all of them, but without a moment in between at which a job is nowhere.
--
-- ARGV    the class.
-- Result  how many.
local class = take()
local moved = 0

-- With the time of now, in the style that the job has: seconds, or since Sidekiq 8 milliseconds.
local function stamped(text, job)
  local style = tonumber(job.created_at) or 0
  local at = style > 1e11 and now_text or string.format('%.6f', time[1] + time[2] / 1000000)
  local head = string.gsub(text, ',"enqueued_at":[%d%.eE+-]+}$', '}')
  return string.gsub(head, '}%s*$', ',"enqueued_at":' .. at .. '}')
end

for _, set in ipairs({'retry', 'schedule'}) do
  local until_now = string.format('%.6f', time[1] + time[2] / 1000000)
  for _, text in ipairs(call('ZRANGEBYSCORE', set, '-inf', until_now, 'LIMIT', 0, 1000)) do
    local ours = string.find(text, class, 1, true)
    local readable, job = pcall(cjson.decode, ours and text or '')
    if readable and job.class == class and type(job.queue) == 'string' then
      call('SADD', 'queues', job.queue)
      call('LPUSH', 'queue:' .. job.queue, (stamped(text, job)))
      call('ZREM', set, text)
      moved = moved + 1
    end
  end
end
return moved
