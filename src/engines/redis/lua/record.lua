-- Notes of running attempts.
--
-- ARGV: number of notes; of each: id, token, and either 'progress', fraction, text, or 'log',
--       attempt, line, or 'effect', key, value
-- Result: of each: accepted (1, 0), value (of an effect: what is recorded now)
local answers, refused = {}, 0
for i = 1, take_number() do
  local id, token, what, first, second = take(), take(), take(), take(), take()
  local t = call('HMGET', P .. 't:' .. id, 's', 't')
  local accepted, value = 1, ''
  if t[1] ~= '1' or t[2] ~= token then
    accepted = 0
    refused = refused + 1
  elseif what == 'progress' then
    call('HSET', P .. 't:' .. id, 'gf', first, 'gt', second)
  elseif what == 'log' then
    call('RPUSH', P .. 'log:' .. id, digits(now) .. '\31' .. first .. '\31' .. second)
  else
    call('HSETNX', P .. 'e:' .. id, first, second)
    value = call('HGET', P .. 'e:' .. id, first)
  end
  answers[#answers + 1] = accepted
  answers[#answers + 1] = value
end
if refused > 0 then call('HINCRBY', P .. 'totals', 'refused', refused) end
return answers
