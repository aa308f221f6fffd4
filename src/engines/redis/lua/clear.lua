-- Forgets what a buried worker left behind.
--
-- ARGV: worker
-- Result: 1, or 0 if it is not buried or still holds work
local worker = take()
local key = P .. 'w:' .. worker
local w = call('HMGET', key, 's', 'cleared')
if w[1] ~= '2' or w[2] or call('EXISTS', P .. 'held:' .. worker) == 1 then return 0 end
call('HSET', key, 'cleared', digits(now), 'holding', '[]')
call('ZREM', P .. 'holders', worker)
has_gone(worker)
return 1
