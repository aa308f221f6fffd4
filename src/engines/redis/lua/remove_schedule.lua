-- Removes a schedule. Its tasks stay.
--
-- ARGV: name
-- Result: 1, or 0 if there was none
local name = take()
call('ZREM', P .. 'due', name)
return call('HDEL', P .. 'schedules', name)
