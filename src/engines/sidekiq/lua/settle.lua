-- Ends requests. What becomes of each and its removal from the registry are one step, which happens
-- only if the holder still holds it.
--
-- ARGV    the orphan threshold in milliseconds, the registry's time to live in seconds, how many
--         requests; and for each its id and token, how many effects and each of them, how many
--         totals and of each its name and how much.
-- Result  for each: 1 done, 0 no longer held, or a text that says what went wrong.
local threshold, ttl = take_number(), take()
local results = {}
for number = 1, take_number() do
  local id, token = take(), take()
  local effects, totals = {}, {}
  for one = 1, take_number() do effects[one] = take_effect() end
  for one = 1, take_number() do totals[one] = {take(), take()} end
  if holds(id, token, threshold, ttl) then
    -- One that cannot be (a queue that is no list) must not keep the others from being settled.
    local good, why = pcall(function() for _, effect in ipairs(effects) do effect() end end)
    if good then
      forget(id)
      for _, total in ipairs(totals) do call('HINCRBYFLOAT', P .. ':totals', total[1], total[2]) end
      if #totals > 0 then call('EXPIRE', P .. ':totals', 30 * 86400) end
    end
    results[number] = good and 1 or (type(why) == 'table' and why.err or tostring(why))
  else
    results[number] = 0
  end
end
return results
