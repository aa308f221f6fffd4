-- Steps of transactions, each all or nothing, by whoever holds their tasks.
--
-- ARGV: number of steps; of each: id, token, state that it is in, and what take_step takes
-- Result: of each: accepted (1, 0), what the ledger has now for each of its lines
local answers, refused = {}, 0
for _ = 1, take_number() do
  local id, token, from, step = take(), take(), take(), take_step()
  local r, recorded = task_of(id), {}
  local accepted = r and r.state == RUNNING and r.token == token
  if accepted then
    local x = P .. 'x:' .. id
    if call('HSETNX', x, 's', from) == 1 then
      call('HSET', x, 'y', '', 'd', 'null', 'e', '', 'f', '0', 'b', now_text, 'n', now_text)
      progress(id)
    end
    recorded = carry_out(id, token, from, step)
  else
    refused = refused + 1
  end
  answers[#answers + 1] = accepted and 1 or 0
  answers[#answers + 1] = recorded
end
if refused > 0 then call('HINCRBY', P .. 'totals', 'refused', refused) end
return answers
