-- Removes a limit.
--
-- ARGV: place (see allowance.lua)
-- Result: 1, or 0 if there was none
local place = take()
local removed = call('HDEL', P .. 'limits', place)
forget_buckets(place)
call('PUBLISH', P .. 'news', 'work')
return removed
