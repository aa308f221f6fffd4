-- A worker has connected anew.
--
-- ARGV: worker, life
-- Result: 1, or 0 if this worker is not running any more as far as the store knows
local worker, life = take(), take()
if call('HGET', P .. 'w:' .. worker, 's') ~= '0' then return 0 end
call('HSET', P .. 'w:' .. worker, 'life', life)
return 1
