-- A clean goodbye.
--
-- ARGV: worker, what it counted ('': nothing new)
-- Result: 1, or 0 if it was declared dead before
local worker, figures = take(), take()
local key = P .. 'w:' .. worker
if call('HGET', key, 's') ~= '0' then return 0 end
call('HSET', key, 's', 1, 'holding', '[]')
if call('EXISTS', P .. 'held:' .. worker) == 0 then call('ZREM', P .. 'holders', worker) end
has_gone(worker)
call('HSET', key, 'stopped', now_text)
if figures ~= '' then call('HSET', key, 'figures', figures) end
return 1
