-- Tasks that wait for others which came to their ends and have not heard of it. What becomes of
-- them is decided by lifecycle.hpp and applied by after_end.lua. The ends are in a list from the
-- step on that they are of, until all have heard of them: any process may continue it.
--
-- Result: {ends, tasks}: of each end: its task, state, and who cancels what waits for it ('': that
--         it waited); of each task: id, what row_of says of it but for these ends, places of its ends (from 0)
local MOST_ENDS, MOST_DEPENDENTS = 500, 500

-- Whether a task waits for others than these.
local function waits_for_more(id, ended)
  local left = call('SCARD', P .. 'waits:' .. id)
  for _, on in ipairs(ended) do left = left - call('SISMEMBER', P .. 'waits:' .. id, on) end
  return left > 0
end

local function dependents_of(on, most)
  local found = {}
  -- At random: processes that do this at the same time mostly take different ones.
  for _, id in ipairs(call('SRANDMEMBER', P .. 'after:' .. on, most)) do
    local r = task_of(id)
    if r and r.state then found[#found + 1] = id else call('SREM', P .. 'after:' .. on, id) end
  end
  return found
end

local function dependents()
  local ends, tasks, known_ones, left = {}, {}, {}, MOST_DEPENDENTS
  for _, entry in ipairs(call('LRANGE', P .. 'cascade', 0, MOST_ENDS - 1)) do
    if left == 0 then break end
    local what, on, actor = string.match(entry, '^([^\31]*)\31([^\31]*)\31(.*)$')
    local ids = dependents_of(on, left)
    if #ids == 0 then
      call('LREM', P .. 'cascade', 1, entry)
    else
      push(ends, on, what == 'release' and COMPLETED or CANCELLED, actor)
      left = left - #ids
    end
    for _, id in ipairs(ids) do
      local one = known_ones[id]
      if not one then
        one = { id = id, ended = {}, places = {} }
        known_ones[id], tasks[#tasks + 1] = one, one
      end
      push(one.ended, on)
      push(one.places, #ends / 3 - 1)
    end
  end
  for i, one in ipairs(tasks) do
    tasks[i] = { one.id, row_of(one.id, task_of(one.id), waits_for_more(one.id, one.ended)),
      one.places }
  end
  return { ends, tasks }
end
