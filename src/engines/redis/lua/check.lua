-- Compares a portion of the tasks with the indexes. Only looks.
--
-- ARGV: first place and last place in the list of all tasks
-- Result: {looked at, problems}; of each problem: id, sentence
local ids = call('ZRANGE', P .. 'all', take_number(), take_number())
local problems = {}
local function wrong(id, what) problems[#problems + 1] = { id, what } end
local function in_index(key, id) return call('ZSCORE', P .. key, id) end
for _, id in ipairs(ids) do
  local t = call('HMGET', P .. 't:' .. id, 's', 'l', 'h')
  local state, lane = t[1], t[2]
  if not state or not lane then
    wrong(id, 'is listed but its data is not there')
  else
    if state == PENDING and not (in_index('ready:' .. lane, id) or in_index('alone:' .. lane, id)
      or in_index('later:' .. lane, id)) then
      wrong(id, 'is pending but is not in its queue, so nobody would run it')
    elseif state == RUNNING and not in_index('held:' .. (holder_of(t[3])), id) then
      wrong(id, 'is running but is not among what its worker holds')
    elseif state == BLOCKED and not in_index('blocked', id) then
      wrong(id, 'is blocked but is not among the blocked tasks')
    elseif state == HELD and not in_index('on_hold', id) then
      wrong(id, 'is held but is not among the held tasks')
    elseif finished[state] and not in_index('done:' .. state, id) then
      wrong(id, 'is finished but is not among the finished tasks')
    end
    if not finished[state] and call('EXISTS', P .. 'p:' .. id) == 0 then
      wrong(id, 'has lost its payload')
    end
  end
end
return { #ids, problems }
