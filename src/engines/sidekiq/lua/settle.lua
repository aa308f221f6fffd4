-- Ends requests. What becomes of each and its removal from the registry are one step, which happens
-- only if the holder still holds it.
--
-- ARGV    the registry's time to live in seconds, how many requests; and for each its id and token,
--         how many effects and each of them, how many totals and of each its name and how much, and
--         in which class of times it belongs (empty: in none).
-- Result  for each: 1 done, 0 no longer held, or a text that says what went wrong.
keep_registry(take())
local requests, results, pushed, seen = {}, {}, {}, {}

-- Most requests do nothing but push a callback, and are done at once for each queue.
local function push_later(number, effect)
  local where = effect[2]
  pushed[where] = pushed[where] or {numbers = {}, texts = {}}
  table.insert(pushed[where].numbers, number)
  table.insert(pushed[where].texts, effect[4])
end

-- One that cannot be (a queue that is no list) must not keep the others from being settled.
local function attempt(step)
  local good, why = pcall(step)
  return good and 1 or (type(why) == 'table' and why.err or tostring(why))
end

for number = 1, take_number() do
  local id, token = take(), take()
  local effects, totals = {}, {}
  for one = 1, take_number() do effects[one] = take_effect() end
  for one = 1, take_number() do totals[one] = {take(), take_number()} end
  requests[number] = {id = id, totals = totals, time = take()}
  if seen[id] or not holds(id, token) then
    results[number] = 0
  elseif #effects == 1 and effects[1][1] == 'push' then
    push_later(number, effects[1])
  else
    results[number] = attempt(function() for _, effect in ipairs(effects) do apply(effect) end end)
  end
  if results[number] ~= 0 then seen[id] = true end
end
for where, all in pairs(pushed) do
  local result = attempt(function()
    call('SADD', 'queues', where)
    in_portions('LPUSH', 'queue:' .. where, all.texts)
  end)
  for _, number in ipairs(all.numbers) do results[number] = result end
end

local done, sums, times = {}, {}, {}
for number, request in ipairs(requests) do
  if results[number] == 1 then
    done[#done + 1] = request.id
    for _, total in ipairs(request.totals) do
      sums[total[1]] = (sums[total[1]] or 0) + total[2]
    end
    if request.time ~= '' then times[request.time] = (times[request.time] or 0) + 1 end
  end
end
forget_all(done)
-- The gem has no times. They go with its totals, which somebody may have cleared on its page.
local TOTALS, TIMES = P .. ':totals', P .. ':holdfast:times'
if next(sums) and call('EXISTS', TOTALS) == 0 then call('DEL', TIMES) end
for name, sum in pairs(sums) do call('HINCRBYFLOAT', TOTALS, name, string.format('%.17g', sum)) end
for time, count in pairs(times) do call('HINCRBY', TIMES, time, count) end
if next(sums) then
  call('EXPIRE', TOTALS, 30 * 86400)
  call('EXPIRE', TIMES, 30 * 86400)
end
return results
