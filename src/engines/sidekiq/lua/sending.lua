-- Notes that a request may have been sent from now on.
--
-- ARGV    its id and token, the orphan threshold in milliseconds, the registry's time to live.
-- Result  1, or 0: it is not held any more.
local id, token, threshold, ttl = take(), take(), take_number(), take()
if not holds(id, token, threshold, ttl) then return 0 end
call('HSET', LEASES, id, token .. ' sending')
return 1
