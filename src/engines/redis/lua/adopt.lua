-- Inserts tasks of another store under the same ids, all or none.
--
-- ARGV: number of tasks; of each: id, state, lane, priority, created at, run at (0: at once), unique
--       key, body (see keys.hpp), and four lists with their lengths: further fields (name, value) of
--       the task, ids that it waits for, entries of its history, its log; then its effects likewise
--       (key, value)
-- Result: {'ok', answers}: of each 0 (created), 1 (an id that is there) or 2 (another has its
--         unique key); or {'unknown', id} that is waited for, then nothing was done
local function take_list()
  local list = {}
  for i = 1, take_number() do list[i] = take() end
  return list
end

local parcels, known = {}, {}
for i = 1, take_number() do
  local p = { id = take(), state = take(), lane = take(), priority = take_number(),
    created = take_number(), run_at = take_number(), key = take(), body = take(),
    fields = take_list(), waits = take_list(), history = take_list(), log = take_list(),
    effects = take_list() }
  parcels[i] = p
  if call('EXISTS', P .. 't:' .. p.id) == 1 then
    p.answer = 1
  else
    for _, on in ipairs(p.waits) do
      if not known[on] and call('EXISTS', P .. 't:' .. on) == 0 then return { 'unknown', on } end
    end
    known[p.id] = true
  end
end

local function write_list(command, key, list) in_portions(command, P .. key, list) end

local function adopt(p)
  local unfinished_one = not finished[p.state]
  if p.answer then return p.answer end
  if p.key ~= '' and unfinished_one and call('HEXISTS', P .. 'unique', p.key) == 1 then return 2 end
  local waits, key = {}, P .. 't:' .. p.id
  for _, on in ipairs(p.waits) do
    if call('HGET', P .. 't:' .. on, 's') ~= COMPLETED then waits[#waits + 1] = on end
  end
  local state = p.state
  if state == PENDING or state == BLOCKED then state = #waits > 0 and BLOCKED or PENDING end
  local order = digits(p.priority * ONE_PRIORITY + p.created)
  call('HSET', key, 's', state, 'l', p.lane, 'o', order, 'r', digits(p.run_at))
  write_list('HSET', 't:' .. p.id, p.fields)
  if p.key ~= '' then
    call('HSET', key, 'uk', p.key)
    if unfinished_one then call('HSET', P .. 'unique', p.key, p.id) end
  end
  call('SET', P .. 'p:' .. p.id, p.body)
  call('ZADD', P .. 'all', call('INCR', P .. 'seq'), p.id)
  if #waits > 0 then write_links(p, waits) end
  write_list('RPUSH', 'h:' .. p.id, p.history)
  write_list('RPUSH', 'log:' .. p.id, p.log)
  write_list('HSET', 'e:' .. p.id, p.effects)
  count(p.lane, state, 1)
  if state == PENDING then index_pending(p.id, p.lane, order, p.run_at, call('HGET', key, 'u'))
  elseif state == BLOCKED then put('blocked', p.id, now_text)
  elseif state == HELD then put('on_hold', p.id, now_text)
  else put('done:' .. state, p.id, call('HGET', key, 'f') or now_text) end
  return 0
end

local answers = {}
for i, p in ipairs(parcels) do answers[i] = adopt(p) end
flush()
announce('work')
return { 'ok', answers }
