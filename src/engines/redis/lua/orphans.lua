-- Work whose worker is buried, gone or silent for too long.
--
-- ARGV: limit, number of workers to be taken for buried, these
-- Result: of each: id, worker, expired (1: only its age is known; 2: its lease ends later than the
--         clock could have said), end of its lease
local limit = take_number()
local presumed = {}
for _ = 1, take_number() do presumed[take()] = true end
local answers, room = {}, limit
local function add(id, worker, expired, lease_end)
  if room <= 0 then return end
  answers[#answers + 1] = id
  answers[#answers + 1] = worker
  answers[#answers + 1] = expired
  answers[#answers + 1] = digits(lease_end or 0)
  room = room - 1
end

-- While the clock is behind what a look has seen of it, it was set back, and any lease may end too
-- late.
local latest = tonumber(call('GET', P .. 'looked_at') or 0)
local set_back = steady < latest
if steady > latest then call('SET', P .. 'looked_at', digits(steady)) end

local function add_expired(worker)
  local earliest, length = math.huge, call('HGET', P .. 'w:' .. worker, 'lease')
  for id, one in pairs(held_by(worker)) do
    earliest = math.min(earliest, one.lease_end)
    local past = past_its_time(one.lease_end, length)
    if past then add(id, worker, past, one.lease_end) end
  end
  -- Until then nobody need look again: what is claimed or renewed for less lowers it.
  call('ZADD', P .. 'holders', 'XX', earliest < math.huge and digits(earliest) or '+inf', worker)
end

local holders = call('ZRANGE', P .. 'holders', 0, -1, 'WITHSCORES')
for i = 1, #holders, 2 do
  local worker = holders[i]
  if room <= 0 then break end
  if presumed[worker] or call('HGET', P .. 'w:' .. worker, 's') ~= '0' then
    for id, one in pairs(held_by(worker)) do add(id, worker, 0, one.lease_end) end
  elseif set_back or tonumber(holders[i + 1]) < steady then
    add_expired(worker)
  end
end
return answers
