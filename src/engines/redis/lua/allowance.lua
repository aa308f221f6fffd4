-- What limits leave room for. The same arithmetic as in token_bucket.hpp: a token is `period` parts
-- of a bucket, and each millisecond brings `tasks` of them.
--
-- A place is a scope (0 queue, 1 kind, 2 key), \31 and a name. A gauge is how much of its limit a
-- place has in use.
local limits, gauges, gauges_of_lane = {}, {}, {}

local function refill(gauge, parts, at)
  local limit = gauge.limit
  local full = limit.capacity * limit.period
  parts = math.max(0, math.min(parts, full))
  local passed = math.max(now - at, 0)
  gauge.parts = passed >= math.ceil((full - parts) / limit.tasks) and full
    or parts + passed * limit.tasks
end

local function gauge_of(place)
  local known = gauges[place]
  if known ~= nil then return known end
  local limit = limits[place] or limits[string.sub(place, 1, 2) .. '*']
  local gauge = limit and { limit = limit, place = place, running = 0 } or false
  if limit and limit.tasks then
    local stored = call('HGET', P .. 'buckets', place)
    local parts, at = string.match(stored or '', '^(%d+)\31(%d+)$')
    refill(gauge, parts and tonumber(parts) or limit.capacity * limit.period, tonumber(at or now))
    -- The clock was set back: from now on it must count from here.
    gauge.changed = at and tonumber(at) > now
  end
  gauges[place] = gauge
  return gauge
end

-- The gauges of all limits that are about a lane.
local function gauges_for(lane)
  local list = gauges_of_lane[lane]
  if list then return list end
  list = {}
  local queue, kind, key = string.match(lane, '^([^\31]*)\31([^\31]*)\31(.*)$')
  for scope, name in ipairs({ queue, kind, key }) do
    local gauge = name ~= '' and gauge_of(scope - 1 .. '\31' .. name)
    if gauge then list[#list + 1] = gauge end
  end
  gauges_of_lane[lane] = list
  return list
end

-- False where no limit is set: then nothing else of this may be called.
local function read_limits()
  local rows = call('HGETALL', P .. 'limits')
  if #rows == 0 then return false end
  local counted = false
  for i = 1, #rows, 2 do
    local most, tasks, period, burst =
      string.match(rows[i + 1], '^(%d*)\31(%d*)\31(%d*)\31(%d*)$')
    local limit = { most = tonumber(most), tasks = tonumber(tasks), period = tonumber(period) }
    if limit.tasks then
      limit.capacity = tonumber(burst) > 0 and tonumber(burst) or limit.tasks
    end
    limits[rows[i]] = limit
    counted = counted or limit.most
  end
  local running = counted and call('HGETALL', P .. 'running') or {}
  for i = 1, #running, 2 do
    for _, gauge in ipairs(gauges_for(running[i])) do
      gauge.running = gauge.running + tonumber(running[i + 1])
    end
  end
  return true
end

-- How many more tasks of a lane may be claimed now, up to `wanted`.
local function room_for(lane, wanted)
  local room = wanted
  for _, gauge in ipairs(gauges_for(lane)) do
    local limit = gauge.limit
    if limit.most then room = math.min(room, limit.most - gauge.running) end
    if limit.tasks then room = math.min(room, math.floor(gauge.parts / limit.period)) end
  end
  return math.max(room, 0)
end

-- Claims one; false, and nothing is changed, if there is no room.
local function take_place(lane)
  if room_for(lane, 1) == 0 then return false end
  for _, gauge in ipairs(gauges_for(lane)) do
    gauge.running = gauge.running + 1
    if gauge.limit.tasks then
      gauge.parts = gauge.parts - gauge.limit.period
      gauge.changed = true
    end
  end
  return true
end

-- When it is worth to ask again where there is no room now; nothing: never.
local function room_at(lane)
  local at = now
  for _, gauge in ipairs(gauges_for(lane)) do
    local limit = gauge.limit
    if limit.most == 0 then return end
    -- Ends of running tasks are announced; this is for those that were not.
    if limit.most and gauge.running >= limit.most then at = math.max(at, now + 1000) end
    if limit.tasks and gauge.parts < limit.period then
      at = math.max(at, now + math.ceil((limit.period - gauge.parts) / limit.tasks))
    end
  end
  return at
end

-- A bucket that is full again need not be remembered.
local function write_buckets()
  for place, gauge in pairs(gauges) do
    if gauge and gauge.changed then
      local limit = gauge.limit
      local missing = limit.capacity * limit.period - gauge.parts
      call('HSET', P .. 'buckets', place, digits(gauge.parts) .. '\31' .. now_text)
      call('ZADD', P .. 'buckets_full', digits(now + math.ceil(missing / limit.tasks)), place)
    end
  end
  local full = call('ZRANGEBYSCORE', P .. 'buckets_full', '-inf', now_text, 'LIMIT', 0, 500)
  if #full > 0 then
    call('HDEL', P .. 'buckets', unpack(full))
    call('ZREM', P .. 'buckets_full', unpack(full))
  end
end
