-- Adds lines to a ledger that is kept for another store, by whoever shows a token that is not
-- smaller than the greatest one so far.
--
-- ARGV: name of the ledger, token, number of what follows, then field and value of each line
-- Result: {0} there is no such ledger, {1} the token is refused, or {2, number of lines that are
--         new, what the ledger has now for each line}
local ledger, token = P .. 'ledger:' .. take(), take()
local greatest = call('HGET', ledger, 'token')
if not greatest then return { 0 } end
if tonumber(token) < tonumber(greatest) then return { 1 } end
if token ~= greatest then call('HSET', ledger, 'token', token) end
local new, values = 0, {}
for _ = 1, take_number() / 2 do
  local field, value = take(), take()
  new = new + call('HSETNX', ledger, field, value)
  values[#values + 1] = call('HGET', ledger, field)
end
return { 2, new, values }
