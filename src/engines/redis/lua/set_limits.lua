-- Sets limits.
--
-- ARGV: number of limits; of each: place (see allowance.lua), most running, and its rate: tasks,
--       period and burst with \31 between them (each is '' where there is none)
-- Result: nothing
for _ = 1, take_number() do
  local place, most, rate = take(), take(), take()
  local before = string.match(call('HGET', P .. 'limits', place) or '', '\31(.*)$')
  if before ~= rate then forget_buckets(place) end
  call('HSET', P .. 'limits', place, most .. '\31' .. rate)
end
call('PUBLISH', P .. 'news', 'work')
return 0
