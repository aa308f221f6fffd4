-- A report of recovery grows in the same step that takes work back or buries a worker.
local report_id, report_key
-- Takes: id of the report, its text as it begins.
local function take_report()
  report_id = take()
  report_key = P .. 'report:' .. report_id
  local begun = take()
  return function()
    if call('HSETNX', report_key, 'text', begun) == 1 then
      call('ZADD', P .. 'reports', call('INCR', P .. 'report_seq'), report_id)
      call('HINCRBY', P .. 'totals', 'runs', 1)
    end
    call('HSET', report_key, 'at', digits(now))
  end
end
local names = { [PENDING] = 'pending', [FAILED] = 'failed', [CANCELLED] = 'cancelled',
  [HELD] = 'held' }
local function add_to_report(id, state, attempt, max, worker, reason, failure)
  local name = failure and 'not_taken' or names[state]
  call('HINCRBY', report_key, name, 1)
  call('HINCRBY', P .. 'totals', name, 1)
  call('HINCRBY', P .. 'totals', 'entries', 1)
  call('RPUSH', report_key .. ':tasks', table.concat({ id, state, attempt, max, worker or '',
    failure or '', reason }, '\31'))
  if not failure then call('SADD', report_key .. ':taken', id) end
end
