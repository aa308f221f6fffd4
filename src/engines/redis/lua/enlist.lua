-- Registers a worker.
--
-- ARGV: worker, host, pid, boot, lease, profile, life (its connection; see life_line.hpp)
-- Result: nothing
local worker, host, pid, boot, lease, profile, life =
  take(), take(), take(), take(), take(), take(), take()
call('HSET', P .. 'w:' .. worker, 's', 0, 'host', host, 'pid', pid, 'boot', boot, 'lease', lease,
  'until', digits(steady + tonumber(lease)), 'started', digits(now), 'beat', digits(now),
  'profile', profile, 'holding', '[]', 'life', life)
call('ZADD', P .. 'workers', digits(now), worker)
return 0
