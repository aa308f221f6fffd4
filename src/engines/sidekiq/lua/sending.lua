-- Notes that requests may have been sent from now on.
--
-- ARGV    the registry's time to live in seconds, how many requests, and of each its id and token.
-- Result  for each: 1, or 0: it is not held any more.
keep_registry(take())
local results = {}
for number = 1, take_number() do
  local id, token = take(), take()
  results[number] = holds(id, token) and 1 or 0
  if results[number] == 1 then
    local lease = call('HGET', LEASES, id)
    call('HSET', LEASES, id, (string.gsub(lease, '%a+$', 'sending')))
  end
end
return results
