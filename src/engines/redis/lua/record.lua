-- Notes of running attempts.
--
-- ARGV: number of notes; of each: id, token, and either 'progress', fraction, text, or 'log',
--       attempt, line, or 'effect', key, value
-- Result: of each: accepted (1, 0), value (of an effect: what is recorded now)
local answers, refused = {}, 0
for i = 1, take_number() do
  local id, token, what, first, second = take(), take(), take(), take(), take()
  local r, accepted, value = task_of(id), 1, ''
  if not r or r.state ~= RUNNING or r.token ~= token then
    accepted = 0
    refused = refused + 1
  elseif what == 'progress' then
    call('HSET', P .. 't:' .. id, 'gf', first, 'gt', second)
    has_unusual(id, r)
  elseif what == 'log' then
    call('RPUSH', P .. 'log:' .. id, digits(now) .. '\31' .. first .. '\31' .. second)
  else
    call('HSETNX', P .. 'e:' .. id, first, second)
    value = call('HGET', P .. 'e:' .. id, first)
  end
  answers[#answers + 1] = accepted
  answers[#answers + 1] = value
end
write_records()
if refused > 0 then call('HINCRBY', P .. 'totals', 'refused', refused) end
return answers
