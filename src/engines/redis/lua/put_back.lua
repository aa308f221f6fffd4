-- A step of a transaction that nobody holds.
--
-- ARGV: id, and what take_step takes
-- Result: 1, or 0: its task is neither failed nor cancelled nor held, or it has not begun
local id, step = take(), take_step()
local r = task_of(id)
local from = call('HGET', P .. 'x:' .. id, 's')
local may_begin = { [FAILED] = true, [CANCELLED] = true, [HELD] = true }
if not from or not r or not may_begin[r.state] then return 0 end
carry_out(id, r.token, from, step)
return 1
