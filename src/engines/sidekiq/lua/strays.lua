-- Puts back what was taken for a process that never heard of it, because the answer was lost.
--
-- ARGV    the process, how many tokens it knows, and each of them.
-- Result  the ids that were put back.
local process = take()
local known = {}
for _ = 1, take_number() do known[take()] = true end
local strays = {}
for _, id in ipairs(call('ZRANGE', BEATS, 0, -1)) do
  if process_of(id) == process and not known[token_of(id) or ''] then
    local text = call('HGET', OURS, id)
    local readable, job = pcall(cjson.decode, text or '')
    if readable and type(job.queue) == 'string' then
      call('RPUSH', 'queue:' .. job.queue, text)
      strays[#strays + 1] = id
      forget(id)
    end
  end
end
return strays
