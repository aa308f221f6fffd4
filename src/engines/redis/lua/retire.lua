-- A clean goodbye.
--
-- ARGV: worker
-- Result: 1, or 0 if it was declared dead before
local worker = take()
local key = P .. 'w:' .. worker
if call('HGET', key, 's') ~= '0' then return 0 end
call('HSET', key, 's', 1, 'holding', '[]')
if call('EXISTS', P .. 'held:' .. worker) == 0 then call('SREM', P .. 'holders', worker) end
has_gone(worker)
return 1
