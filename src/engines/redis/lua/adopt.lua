-- Inserts tasks of another store under the same ids, all or none.
--
-- ARGV: number of tasks; of each: id, state, lane, priority, created at, run at (0: at once),
--       token, attempts, finished at ('' if it is not), unique key, body (see keys.hpp), and four
--       lists with their lengths: what is unusual about it (name, value), ids that it waits for,
--       entries of its history, its log; then its effects likewise (key, value)
-- Result: {'ok', answers}: of each 0 (created), 1 (an id that is there) or 2 (another has its
--         unique key); or {'unknown', id} that is waited for, then nothing was done
local function take_list()
  local list = {}
  for i = 1, take_number() do list[i] = take() end
  return list
end

local parcels, coming, highest_token = {}, {}, 0
for i = 1, take_number() do
  local p = { id = take(), state = take(), lane = take(), priority = take_number(),
    created = take_number(), run_at = take_number(), token = take(), attempt = take(),
    finished = take(), key = take(), body = take(), fields = take_list(), waits = take_list(),
    history = take_list(), log = take_list(), effects = take_list() }
  parcels[i] = p
  if task_of(p.id) then
    p.answer = 1
  else
    for _, on in ipairs(p.waits) do
      if not coming[on] and not task_of(on) then return { 'unknown', on } end
    end
    coming[p.id] = true
    highest_token = math.max(highest_token, tonumber(p.token))
  end
end

local function write_list(command, key, list) in_portions(command, P .. key, list) end

local function adopt(p)
  local unfinished_one = not finished[p.state]
  if p.answer then return p.answer end
  if p.key ~= '' and unfinished_one and call('HEXISTS', P .. 'unique', p.key) == 1 then return 2 end
  local waits, suspect = {}, false
  for _, on in ipairs(p.waits) do
    local r = task_of(on)
    if not r or r.state ~= COMPLETED then waits[#waits + 1] = on end
  end
  local state = p.state
  if state == PENDING or state == BLOCKED then state = #waits > 0 and BLOCKED or PENDING end
  for i = 1, #p.fields, 2 do suspect = suspect or p.fields[i] == 'u' end
  if p.key ~= '' then
    p.fields[#p.fields + 1] = 'uk'
    p.fields[#p.fields + 1] = p.key
    if unfinished_one then call('HSET', P .. 'unique', p.key, p.id) end
  end
  local order = digits(p.priority * ONE_PRIORITY + p.created)
  -- It may have been here before, and still be in the list of its lane; see move.lua.
  local unclaimed = p.token == '0' and (state == PENDING or state == BLOCKED)
  change(p.id, { lane = p.lane }, { state = state, more = #p.fields > 0 and '+' or '',
    token = unclaimed and next_token() or p.token, attempt = p.attempt, order = order,
    run_at = digits(p.run_at), worker = '', claimed = '', number = '', finished = p.finished,
    result = '' })
  write_list('HSET', 't:' .. p.id, p.fields)
  call('SET', P .. 'p:' .. p.id, p.body)
  call('ZADD', P .. 'all', call('INCR', P .. 'seq'), p.id)
  if #waits > 0 then write_links(p.id, waits) end
  write_list('RPUSH', 'h:' .. p.id, p.history)
  write_list('RPUSH', 'log:' .. p.id, p.log)
  write_list('HSET', 'e:' .. p.id, p.effects)
  count(p.lane, state, 1)
  if state == PENDING then index_pending(p.id, p.lane, order, p.run_at, suspect)
  elseif state == BLOCKED then put('blocked', p.id, now_text)
  elseif state == HELD then put('on_hold', p.id, now_text)
  elseif state == COMPLETED then write_completed({ p.id }, p.finished)
  else put('done:' .. state, p.id, p.finished ~= '' and p.finished or now_text) end
  return 0
end

local answers = {}
for i, p in ipairs(parcels) do answers[i] = adopt(p) end
-- Who had one of them in the other store has a token that counts for nothing here.
if highest_token > tonumber(call('GET', P .. 'token') or 0) then
  call('SET', P .. 'token', digits(highest_token))
end
flush()
announce('work')
return { 'ok', answers }
