-- Compares a portion of the tasks with the indexes. Only looks.
--
-- ARGV: number of ids, these; if there are none: first place and last place in the list of all
--       tasks
-- Result: {looked at, problems, fresh ones}; of each problem: id, sentence; of each that is
--         pending and must be in the list of its lane, which would have to be read to the end for
--         that: id, lane
local ids, problems, fresh_ones = {}, {}, {}
for i = 1, take_number() do ids[i] = take() end
if #ids == 0 then ids = call('ZRANGE', P .. 'all', take_number(), take_number()) end
look_up(ids)
local function wrong(id, what) problems[#problems + 1] = { id, what } end
local function in_index(key, id) return call('ZSCORE', P .. key, id) end
for _, id in ipairs(ids) do
  local r = task_of(id)
  local state, lane = r and r.state, r and r.lane
  if not state then
    wrong(id, 'is listed but its data is not there')
  else
    if state == PENDING and not (in_index('ready:' .. lane, id) or in_index('alone:' .. lane, id)
      or in_index('later:' .. lane, id)) then
      if is_fresh(r, '=' .. r.order) then
        fresh_ones[#fresh_ones + 1] = { id, lane }
      else
        wrong(id, 'is pending but is not in its queue, so nobody would run it')
      end
    elseif state == RUNNING and not held_by(r.worker)[id] then
      wrong(id, 'is running but is not among what its worker holds')
    elseif state == BLOCKED and not in_index('blocked', id) then
      wrong(id, 'is blocked but is not among the blocked tasks')
    elseif state == HELD and not in_index('on_hold', id) then
      wrong(id, 'is held but is not among the held tasks')
    -- Completed ones are in a list, and looking for one would be reading all of it.
    elseif (state == FAILED or state == CANCELLED) and not in_index('done:' .. state, id) then
      wrong(id, 'is finished but is not among the finished tasks')
    end
    if not finished[state] and call('EXISTS', P .. 'p:' .. id) == 0 then
      wrong(id, 'has lost its payload')
    end
    if r.more == '' and call('EXISTS', P .. 't:' .. id) == 1 then
      wrong(id, 'has notes that its record does not know of')
    end
  end
end
return { #ids, problems, fresh_ones }
