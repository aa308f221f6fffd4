-- When the earliest task that a claim could take becomes due.
--
-- ARGV: number of queues, these (none: all), number of kinds, these
-- Result: '' if there is none, '0' for now, or a time
local queues, kinds = {}, {}
for i = 1, take_number() do queues[i] = take() end
for i = 1, take_number() do kinds[i] = take() end
local earliest
for _, each in ipairs(open_lanes(queues, kinds)) do
  if call('EXISTS', P .. 'ready:' .. each[3], P .. 'alone:' .. each[3]) > 0 then return '0' end
  local first = call('ZRANGE', P .. 'later:' .. each[3], 0, 0, 'WITHSCORES')
  if first[2] and (not earliest or tonumber(first[2]) < earliest) then
    earliest = tonumber(first[2])
  end
end
return earliest and digits(earliest) or ''
