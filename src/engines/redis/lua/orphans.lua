-- Work whose worker is buried, gone or silent for too long.
--
-- ARGV: limit, number of workers to be taken for buried, these
-- Result: of each: id, worker, expired (1: only its age is known)
local limit = take_number()
local presumed = {}
for _ = 1, take_number() do presumed[take()] = true end
local answers, room = {}, limit
local function add(id, worker, expired)
  if room <= 0 then return end
  answers[#answers + 1] = id
  answers[#answers + 1] = worker
  answers[#answers + 1] = expired
  room = room - 1
end

local function add_expired(worker)
  local earliest = math.huge
  for id, one in pairs(held_by(worker)) do
    earliest = math.min(earliest, one.lease_end)
    if one.lease_end < steady then add(id, worker, 1) end
  end
  -- Until then nobody need look again: what is claimed or renewed for less lowers it.
  call('ZADD', P .. 'holders', 'XX', earliest < math.huge and digits(earliest) or '+inf', worker)
end

local holders = call('ZRANGE', P .. 'holders', 0, -1, 'WITHSCORES')
for i = 1, #holders, 2 do
  local worker = holders[i]
  if room <= 0 then break end
  if presumed[worker] or call('HGET', P .. 'w:' .. worker, 's') ~= '0' then
    for id in pairs(held_by(worker)) do add(id, worker, 0) end
  elseif tonumber(holders[i + 1]) < steady then
    add_expired(worker)
  end
end
return answers
