-- Completes a report and sheds the oldest ones.
--
-- ARGV: report (see report.lua), its text as it ends, number of orphans that could not be taken
--       back; of each: id, state, attempt, max attempts, worker, reason, error; reports to keep,
--       entries to keep
-- Result: nothing
take_report()()
call('HSET', report_key, 'text', take(), 'complete', 1)
for _ = 1, take_number() do
  local id, state, attempt, max, worker, reason, failure =
    take(), take(), take(), take(), take(), take(), take()
  if call('SISMEMBER', report_key .. ':taken', id) == 0 then
    add_to_report(id, state, attempt, max, worker, reason, failure)
  end
end
call('UNLINK', report_key .. ':taken')
local ever = tonumber(call('HGET', P .. 'totals', 'refused') or 0)
local before = tonumber(call('HGET', P .. 'totals', 'refused_before') or 0)
call('HSET', P .. 'totals', 'refused_before', ever)
call('HSET', report_key, 'refused', ever - before, 'refused_ever', ever)

local most_reports, most_entries = take_number(), take_number()
for _ = 1, 20 do
  local reports = call('ZCARD', P .. 'reports')
  local entries = tonumber(call('HGET', P .. 'totals', 'entries') or 0)
  if reports <= most_reports and (reports <= 1 or entries <= most_entries) then break end
  local oldest = call('ZPOPMIN', P .. 'reports')[1]
  local key = P .. 'report:' .. oldest
  call('HINCRBY', P .. 'totals', 'entries', 0 - call('LLEN', key .. ':tasks'))
  call('UNLINK', key, key .. ':tasks', key .. ':workers', key .. ':taken')
end
return 0
