-- Gives the lock of the registry up, if it is still this process's.
--
-- ARGV    the process.
-- Result  1, or 0: the lock expired, and another process may have it.
local process = take()
if call('GET', P .. ':gc_lock') ~= process then return 0 end
return call('DEL', P .. ':gc_lock')
