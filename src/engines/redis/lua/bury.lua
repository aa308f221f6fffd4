-- Declares a worker dead.
--
-- ARGV: report (see report.lua), worker, life ('' unless its death is proven: the connection that
--       is gone), end of its lease for who decided, cause, evidence, what is known of what it was
--       running (JSON)
-- Result: 1, or 0 if it was heard of since, or somebody else was faster
local begin_report = take_report()
local worker, life, lease_end, cause, evidence, remains =
  take(), take(), take_number(), take(), take(), take()
local key = P .. 'w:' .. worker
local w = call('HMGET', key, 's', 'until', 'life', 'host', 'pid', 'beat', 'lease')
if w[1] ~= '0' then return 0 end
local proven = life ~= '' and w[3] == life
local silent = tonumber(w[2]) == lease_end and past_its_time(lease_end, w[7])
if not proven and not silent then return 0 end
call('HSET', key, 's', 2, 'cause', cause, 'evidence', evidence, 'proven', proven and 1 or 0,
  'remains', remains)
begin_report()
call('HSET', report_key .. ':workers', worker, table.concat({ w[4], w[5], w[6], evidence, cause },
  '\31'))
call('HINCRBY', P .. 'totals', 'dead_workers', 1)
return 1
