-- Takes jobs of one class out of queues and registers them, all in one step: there is no moment at
-- which a job is in neither place. Jobs of other classes stay where they are.
--
-- ARGV    the process, how many at most, the registry's time to live in seconds, the class, how many
--         queues; and for each its name and how many of its oldest jobs were looked at before.
-- Result  {jobs, places, buried}: of each job its id, token, queue and text; of each queue how many
--         were looked at now (-1: all of them); of each that cannot be read its queue and jid.
local window = 200
local process, room, ttl, class = take(), take_number(), take(), take()

-- The request's own id, or what stands for it; nothing where the job is not of the class.
local function request_of(text)
  if not string.find(text, class, 1, true) then return nil end
  local readable, job = pcall(cjson.decode, text)
  if not readable or type(job) ~= 'table' then return nil, true end
  if job.class ~= class then return nil end
  local id = type(job.args) == 'table' and job.args[5]
  if type(id) ~= 'string' or id == '' then id = job.jid end
  if type(id) ~= 'string' or id == '' then id = digits(time[1] * 1000000 + time[2] + room) end
  return id
end

local jobs, places, buried = {}, {}, {}
for _ = 1, take_number() do
  local queue, offset = take(), take_number()
  local key = 'queue:' .. queue
  -- Sidekiq pushes at the left and takes from the right.
  local texts = call('LRANGE', key, -offset - window, -offset - 1)
  local passed = 0
  local place = #texts
  while place > 0 and room > 0 do
    local text = texts[place]
    local request, broken = request_of(text)
    if request then
      call('LREM', key, -1, text)
      local id, token = process .. '/' .. request, next_token()
      -- Whoever names requests may give two of them one name; each has its own entry.
      if call('HEXISTS', LEASES, id) == 1 then id = id .. '/' .. token end
      call('HSET', LEASES, id, token .. ' taken')
      call('HSET', OURS, id, text)
      call('ZADD', BEATS, now_text, id)
      register(id, text, ttl)
      room = room - 1
      for _, value in ipairs({id, token, queue, text}) do jobs[#jobs + 1] = value end
    elseif broken then
      -- Nobody can run what is not JSON; Sidekiq takes it for dead, too.
      call('LREM', key, -1, text)
      kill(text)
      buried[#buried + 1] = queue
      buried[#buried + 1] = string.match(text, '"jid":"(%w+)"') or ''
    else
      passed = passed + 1
    end
    place = place - 1
  end
  local all = #texts < window and place == 0
  places[#places + 1] = all and -1 or offset + passed
end
return {jobs, places, buried}
