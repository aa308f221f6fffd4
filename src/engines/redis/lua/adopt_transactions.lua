-- Writes what transactions of another store have, in place of what they have here. One whose task is
-- not here or is running is left as it is.
--
-- ARGV: number of transactions; of each: id, and lists of its fields, the lines of its ledger (field,
--       value), its messages and its moves
-- Result: 1
for _ = 1, take_number() do
  local id = take()
  local fields, lines, messages, moves = take_list(), take_list(), take_list(), take_list()
  local r = task_of(id)
  if r and r.state ~= RUNNING then
    call('UNLINK', P .. 'x:' .. id, P .. 'l:' .. id, P .. 'o:' .. id, P .. 'm:' .. id)
    call('HSET', P .. 'x:' .. id, unpack(fields))
    in_portions('HSET', P .. 'l:' .. id, lines)
    for _, message in ipairs(messages) do
      call('HSET', P .. 'o:' .. id, call('INCR', P .. 'outbox'), message)
    end
    in_portions('RPUSH', P .. 'm:' .. id, moves)
  end
end
return 1
