-- A heartbeat.
--
-- ARGV: worker, ids of the tasks that it holds (JSON), what it counted ('': nothing new)
-- Result: 1, or 0 if this worker is not running any more as far as the store knows
local worker, holding, figures = take(), take(), take()
local key = P .. 'w:' .. worker
local w = call('HMGET', key, 's', 'lease')
if w[1] ~= '0' then return 0 end
call('HSET', key, 'beat', digits(now), 'until', digits(steady + tonumber(w[2])), 'holding', holding)
if figures ~= '' then call('HSET', key, 'figures', figures) end
return 1
