-- A step of a transaction that nobody holds.
--
-- ARGV: id, and what take_step takes
-- Result: 1, or 0: its task is neither failed nor cancelled nor held, or it has not begun
local id, step = take(), take_step()
local t = call('HMGET', P .. 't:' .. id, 's', 't')
local from = call('HGET', P .. 'x:' .. id, 's')
if not from or not t[1] or not string.find('346', t[1], 1, true) then return 0 end
carry_out(id, t[2] or '0', from, step)
return 1
