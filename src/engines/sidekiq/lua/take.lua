-- Takes jobs of one class out of queues and registers them, all in one step: there is no moment at
-- which a job is in neither place. Jobs of other classes stay where they are, and so do those for a
-- host of which the process has as many in hand as it may.
--
-- ARGV    the process, how many at most, the registry's time to live in seconds, the class; how many
--         may be sent to one host at once (0: hosts do not matter), how many more of one host and of
--         all of them may wait for that, how many hosts there are requests for in hand, and each with
--         how many; how many queues, and for each its name, how many of its oldest jobs were looked
--         at before, how many hosts are to be passed there anyway, and each of them.
-- Result  {jobs, places, buried, refusals}: of each job its id, token, queue, text and host; of each
--         queue whether its newest job was looked at (1 or 0), how many were passed, and the hosts
--         that there was no room for, each with how many had been passed before it; of each that
--         cannot be read its queue and jid; of each queue that is none its name and why.
local window = 200
local process, room, ttl, class = take(), take_number(), take(), take()
local per_host, line, room_to_wait = take_number(), take_number(), take_number()
local in_hand = {}
for _ = 1, take_number() do
  local host = take()
  in_hand[host] = take_number()
end

-- Scheme, name and port; empty where they do not matter, or are kept apart from the job.
local function host_of(job)
  local request = per_host > 0 and type(job.args) == 'table' and job.args[1]
  local url = type(request) == 'table' and request.url
  if type(url) ~= 'string' then return '' end
  local scheme, host = string.match(string.lower(url), '^(https?)://([^/?#%s]+)')
  if not scheme then return '' end
  return scheme .. '://' .. string.gsub(host, scheme == 'https' and ':443$' or ':80$', '')
end

-- The request's own id, or what stands for it, and its host; nothing where the job is not of the
-- class.
local function request_of(text)
  if not string.find(text, class, 1, true) then return nil end
  local readable, job = pcall(cjson.decode, text)
  if not readable or type(job) ~= 'table' then
    -- Where a job of another class only mentions it, others may be able to read that.
    local _, last = string.find(text, '"class":"' .. class, 1, true)
    return nil, nil, last and (last == #text or string.sub(text, last + 1, last + 1) == '"')
  end
  if job.class ~= class then return nil end
  local id = type(job.args) == 'table' and job.args[5]
  if type(id) ~= 'string' or id == '' then id = job.jid end
  if type(id) ~= 'string' or id == '' then id = digits(time[1] * 1000000 + time[2] + room) end
  return id, host_of(job)
end

-- Counts it in, unless there is no room at its host.
local function let_in(host)
  local before = host == '' and -1 or in_hand[host] or 0
  if before >= per_host + line or before >= per_host and room_to_wait == 0 then return false end
  if before < per_host then
    room = room - 1
  else
    room_to_wait = room_to_wait - 1
  end
  if host ~= '' then in_hand[host] = before + 1 end
  return true
end

-- Those that are taken, each with its id, queue, text and host.
local found, buried, refusals = {}, {}, {}
local function register_found()
  if #found == 0 then return {} end
  keep_registry(ttl)
  local ids = {}
  for number, one in ipairs(found) do ids[number] = one[1] end
  local first = next_tokens(#found)
  local known = {}
  for from = 1, #ids, 1000 do
    local some = call('HMGET', LEASES, unpack(ids, from, math.min(from + 999, #ids)))
    for number, lease in ipairs(some) do known[ids[from + number - 1]] = lease end
  end
  local jobs, leases, scores, texts = {}, {}, {}, {}
  for number, one in ipairs(found) do
    local id, queue, text, host = unpack(one)
    local token = digits(first + number - 1)
    -- Whoever names requests may give two of them one name; each has its own entry.
    if known[id] then id = id .. '/' .. token end
    known[id] = token
    local place = 2 * number
    leases[place - 1], leases[place] = id, token .. (host == '' and '' or ' ' .. host) .. ' taken'
    scores[place - 1], scores[place] = heard(), id
    texts[place - 1], texts[place] = id, text
    for _, value in ipairs({id, token, queue, text, host}) do jobs[#jobs + 1] = value end
  end
  in_portions('HSET', LEASES, leases)
  in_portions('HSET', OURS, texts)
  in_portions('ZADD', BEATS, scores)
  register_all(scores, texts, ttl)
  return jobs
end

-- Places count from the end, which is -1.
local function remove_all(key, places)
  if #places == 0 then return end
  if places[#places] == -#places then return call('LTRIM', key, 0, -#places - 1) end
  -- Removing one costs as much as there are older ones; so it is done at once for all.
  local mark = process .. ' has it'
  for _, place in ipairs(places) do call('LSET', key, place, mark) end
  call('LREM', key, -#places, mark)
end

local function look_at(queue, offset, closed)
  local key = 'queue:' .. queue
  -- Sidekiq pushes at the left and takes from the right.
  local texts = redis.pcall('LRANGE', key, -offset - window, -offset - 1)
  if texts.err then
    refusals[#refusals + 1] = queue
    refusals[#refusals + 1] = texts.err
    return {1, 0}
  end
  local place, passed, gone = #texts, 0, {}
  local no_room = {}
  local function remove() gone[#gone + 1] = place - #texts - 1 - offset end
  while place > 0 and room > 0 do
    local text = texts[place]
    local request, host, broken = request_of(text)
    if request and not closed[host] and let_in(host) then
      found[#found + 1] = {process .. '/' .. request, queue, text, host}
      remove()
    elseif broken then
      -- Nobody can run what is not JSON; Sidekiq takes it for dead, too.
      kill(text)
      remove()
      buried[#buried + 1] = queue
      buried[#buried + 1] = string.match(text, '"jid":"(%w+)"') or ''
    else
      if request then no_room[host] = no_room[host] or passed end
      passed = passed + 1
    end
    place = place - 1
  end
  remove_all(key, gone)
  local result = {#texts < window and place == 0 and 1 or 0, passed}
  for host, before in pairs(no_room) do
    result[#result + 1] = host
    result[#result + 1] = before
  end
  return result
end

local places = {}
for number = 1, take_number() do
  local queue, offset, closed = take(), take_number(), {}
  for _ = 1, take_number() do closed[take()] = true end
  places[number] = look_at(queue, offset, closed)
end
return {register_found(), places, buried, refusals}
