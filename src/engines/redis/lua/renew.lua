-- Extends leases.
--
-- ARGV: length, number of leases; of each: id, token
-- Result: of each 0 (kept), 1 (kept, and somebody wants the work to stop) or 2 (lost)
local length = take_number()
local answers = {}
for i = 1, take_number() do
  local id, token = take(), take()
  local t = call('HMGET', P .. 't:' .. id, 's', 't', 'h', 'x')
  if t[1] ~= '1' or t[2] ~= token then
    answers[i] = 2
  else
    call('ZADD', P .. 'held:' .. string.sub(t[3], 1, 26), steady + length, id)
    answers[i] = t[4] and 1 or 0
  end
end
return answers
