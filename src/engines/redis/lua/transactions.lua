-- What a transaction has beside its task; the keys are described in keys.hpp.
local function progress(id) call('HSET', P .. 'x:' .. id, 'p', now_text) end
local function move_transaction(id, from, to, reason, token)
  call('HSET', P .. 'x:' .. id, 's', to, 'y', reason, 'n', now_text, 'f', '0', 'e', '')
  call('RPUSH', P .. 'm:' .. id, table.concat({ from, to, token, now_text, reason }, '\31'))
  progress(id)
end

local function take_list()
  local list = {}
  for i = 1, take_number() do list[i] = take() end
  return list
end

-- What a step does, as ARGV says it: the next state as a list of none or one; reason; what it
-- knows, an error and trouble, again as lists of none or one; forget the ledger (1, 0); a ledger
-- elsewhere has new lines (1, 0); lists of what is to be recorded (field, value), of marks (field,
-- value; an empty value removes it), of messages to be sent, and of numbers of those that were. A
-- list begins with its length.
local function take_step()
  local step = { to = take_list()[1], reason = take() }
  step.data, step.error, step.trouble = take_list()[1], take_list()[1], take_list()[1]
  step.forget = take() == '1'
  step.progressed = take() == '1'
  step.lines, step.marks = take_list(), take_list()
  step.messages, step.sent = take_list(), take_list()
  return step
end

local function record(id, lines)
  local recorded = {}
  for i = 1, #lines, 2 do
    if call('HSETNX', P .. 'l:' .. id, lines[i], lines[i + 1]) == 1 then progress(id) end
    recorded[#recorded + 1] = call('HGET', P .. 'l:' .. id, lines[i])
  end
  return recorded
end

local function write_marks(id, marks)
  for i = 1, #marks, 2 do
    if marks[i + 1] == '' then
      call('HDEL', P .. 'l:' .. id, marks[i])
    else
      call('HSET', P .. 'l:' .. id, marks[i], marks[i + 1])
    end
  end
end

-- Returns what the ledger has now for each of its lines.
local function carry_out(id, token, from, step)
  local x = P .. 'x:' .. id
  if step.forget then call('UNLINK', P .. 'l:' .. id) end
  local recorded = record(id, step.lines)
  write_marks(id, step.marks)
  if step.progressed then progress(id) end
  if step.data then call('HSET', x, 'd', step.data) end
  if step.error then
    call('HINCRBY', x, 'f', 1)
    call('HSET', x, 'e', step.error)
  end
  if step.trouble then call('HSET', x, 'e', step.trouble) end
  if step.to then move_transaction(id, from, step.to, step.reason, token) end
  if #step.sent > 0 then in_portions('HDEL', P .. 'o:' .. id, step.sent) end
  for _, message in ipairs(step.messages) do
    call('HSET', P .. 'o:' .. id, call('INCR', P .. 'outbox'), message)
  end
  return recorded
end
