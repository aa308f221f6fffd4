-- Work whose worker is buried, gone or silent for too long. Only looks.
--
-- ARGV: limit, number of workers to be taken for buried, these
-- Result: of each: id, worker, expired (1: only its age is known)
local limit = take_number()
local presumed = {}
for _ = 1, take_number() do presumed[take()] = true end
local answers, room = {}, limit
for _, worker in ipairs(call('SMEMBERS', P .. 'holders')) do
  if room <= 0 then break end
  local dead = presumed[worker] or call('HGET', P .. 'w:' .. worker, 's') ~= '0'
  local ids
  if dead then
    ids = call('ZRANGE', P .. 'held:' .. worker, 0, room - 1)
  else
    ids = call('ZRANGEBYSCORE', P .. 'held:' .. worker, '-inf', '(' .. digits(steady), 'LIMIT', 0,
      room)
  end
  for _, id in ipairs(ids) do
    answers[#answers + 1] = id
    answers[#answers + 1] = worker
    answers[#answers + 1] = dead and 0 or 1
  end
  room = room - #ids
end
return answers
