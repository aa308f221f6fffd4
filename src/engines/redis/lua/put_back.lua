-- Puts a transaction that nobody holds into another state.
--
-- ARGV: id, state, reason
-- Result: 1, or 0: its task is neither failed nor cancelled nor held, or it has not begun
local id, state, reason = take(), take(), take()
local t = call('HMGET', P .. 't:' .. id, 's', 't')
local from = call('HGET', P .. 'x:' .. id, 's')
if not from or not t[1] or not string.find('346', t[1], 1, true) then return 0 end
move_transaction(id, from, state, reason, t[2] or '0')
return 1
