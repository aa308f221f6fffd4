-- The beginning of a long result: the rest stays here.
--
-- ARGV: id of the task, number of bytes
-- Result: text
local id = take()
return string.sub(call('HGET', P .. 't:' .. id, 'w') or '', 1, take_number())
