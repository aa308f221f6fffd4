-- Keeps points of the metrics' history, and forgets old ones.
--
-- ARGV: number of points; of each: resolution, time, text
--       number of ends; of each: resolution, time before which nothing is kept
-- Result: nothing
for _ = 1, take_number() do
  local key, at, text = P .. 'metrics:' .. take(), take(), take()
  -- The first one that comes stays: another server saw the same.
  if call('ZCOUNT', key, at, at) == 0 then call('ZADD', key, at, at .. '\31' .. text) end
end
for _ = 1, take_number() do
  local key, before = P .. 'metrics:' .. take(), take()
  call('ZREMRANGEBYSCORE', key, '-inf', '(' .. before)
end
return 0
