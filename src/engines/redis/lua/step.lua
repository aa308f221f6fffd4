-- Steps of transactions, each all or nothing, by whoever holds their tasks.
--
-- ARGV: number of steps; of each: id, token, state that it is in, and the next one as a list of none
--       or one; reason; what it knows and an error, again as lists of none or one; forget the ledger
--       (1, 0); lists of what is to be recorded (field, value), of messages to be sent, and of
--       numbers of those that were. A list begins with its length.
-- Result: of each: accepted (1, 0), what the ledger has now for each of its lines
local function take_list()
  local list = {}
  for i = 1, take_number() do list[i] = take() end
  return list
end

local function record(id, lines)
  local recorded = {}
  for i = 1, #lines, 2 do
    if call('HSETNX', P .. 'l:' .. id, lines[i], lines[i + 1]) == 1 then progress(id) end
    recorded[#recorded + 1] = call('HGET', P .. 'l:' .. id, lines[i])
  end
  return recorded
end

local answers, refused = {}, 0
for _ = 1, take_number() do
  local id, token, from, to, reason = take(), take(), take(), take_list(), take()
  local data, problem, forget = take_list(), take_list(), take() == '1'
  local lines, messages, sent = take_list(), take_list(), take_list()
  local t = call('HMGET', P .. 't:' .. id, 's', 't')
  local recorded = {}
  local accepted = t[1] == '1' and t[2] == token
  if accepted then
    local x = P .. 'x:' .. id
    if call('HSETNX', x, 's', from) == 1 then
      call('HSET', x, 'y', '', 'd', 'null', 'e', '', 'f', '0', 'b', now_text, 'n', now_text)
      progress(id)
    end
    if forget then call('UNLINK', P .. 'l:' .. id) end
    recorded = record(id, lines)
    if data[1] then call('HSET', x, 'd', data[1]) end
    if problem[1] then
      call('HINCRBY', x, 'f', 1)
      call('HSET', x, 'e', problem[1])
    end
    if to[1] then move_transaction(id, from, to[1], reason, token) end
    if #sent > 0 then in_portions('HDEL', P .. 'o:' .. id, sent) end
    for _, message in ipairs(messages) do
      call('HSET', P .. 'o:' .. id, call('INCR', P .. 'outbox'), message)
    end
  else
    refused = refused + 1
  end
  answers[#answers + 1] = accepted and 1 or 0
  answers[#answers + 1] = recorded
end
if refused > 0 then call('HINCRBY', P .. 'totals', 'refused', refused) end
return answers
