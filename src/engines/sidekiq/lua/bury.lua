-- A process of ours that is dead leaves nothing behind once its requests were taken over.
--
-- ARGV    the process and the life that it lost.
-- Result  1, or 0: it lives again, or still holds something.
local process, life = take(), take()
if call('HGET', LIVES, process) ~= life then return 0 end
for _, id in ipairs(call('ZRANGE', BEATS, 0, -1)) do
  if process_of(id) == process then return 0 end
end
call('HDEL', LIVES, process)
call('SREM', P .. ':processes', process)
call('DEL', P .. ':processes:' .. process .. ':max_connections')
return 1
