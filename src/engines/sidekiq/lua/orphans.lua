-- Finds requests whose process is dead, of Ruby and of ours. Processes that are not alive any more
-- are taken off the gem's list first: the gem leaves them there, and never looks at what they held.
--
-- ARGV    the orphan threshold in milliseconds, how many at most, how many processes of ours are
--         known to be dead, and each of them.
-- Result  of each request its id, its process, its phase (empty: not ours) and its text (empty:
--         there is none).
local threshold, room = take_number(), take_number()
local dead, seen, found = {}, {}, {}
for _ = 1, take_number() do dead[take()] = true end
for _, process in ipairs(call('SMEMBERS', P .. ':processes')) do
  if dead[process] or not is_alive(process) then call('SREM', P .. ':processes', process) end
end
-- Of those that died with an earlier run of this server, nobody can prove it any more.
for _, process in ipairs(call('HKEYS', LIVES)) do
  if not dead[process] and not is_alive(process) then call('HDEL', LIVES, process) end
end

local function look_at(ids)
  for _, id in ipairs(ids) do
    local process = process_of(id)
    if room > 0 and not seen[id] and (dead[process] or not is_alive(process)) then
      seen[id] = true
      room = room - 1
      local lease = call('HGET', LEASES, id)
      local text = call('HGET', OURS, id) or call('HGET', JOBS, id) or ''
      local phase = lease and string.match(lease, ' (%a+)$') or ''
      for _, value in ipairs({id, process, phase, text}) do found[#found + 1] = value end
    end
  end
end

local before = '(' .. digits(now - threshold)
look_at(call('ZRANGEBYSCORE', INDEX, '-inf', before, 'LIMIT', 0, 1000))
look_at(call('ZRANGEBYSCORE', BEATS, '-inf', before, 'LIMIT', 0, 1000))
if next(dead) then
  local theirs = {}
  for _, id in ipairs(call('ZRANGE', BEATS, 0, -1)) do
    if dead[process_of(id)] then theirs[#theirs + 1] = id end
  end
  look_at(theirs)
end
return found
