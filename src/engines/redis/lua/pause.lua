-- Pauses or resumes a queue.
--
-- ARGV: queue, paused (1, 0), actor
-- Result: nothing
local queue, paused, actor = take(), take() == '1', take()
if paused then
  call('HSETNX', P .. 'paused', queue, digits(now) .. '\31' .. actor)
else
  call('HDEL', P .. 'paused', queue)
end
call('PUBLISH', P .. 'news', 'control')
call('PUBLISH', P .. 'news', 'work')
return 0
