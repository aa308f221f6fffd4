-- Finds requests whose process is dead, of Ruby and of ours. Processes that are not alive any more
-- are taken off the gem's list first: the gem leaves them there, and never looks at what they held.
--
-- ARGV    the orphan threshold in milliseconds, how many at most, how many processes of ours are
--         known to be dead, and each of them; the ids of those that were tried before, which are
--         passed.
-- Result  of each request its id, its process, its phase (empty: not ours) and its text (empty:
--         there is none).
local threshold, room = take_number(), take_number()
local dead, seen, found, alive = {}, {}, {}, {}
for _ = 1, take_number() do dead[take()] = true end
while taken < #ARGV do seen[take()] = true end
local function is_dead(process)
  if alive[process] == nil then alive[process] = not dead[process] and is_alive(process) end
  return not alive[process]
end
for _, process in ipairs(call('SMEMBERS', P .. ':processes')) do
  if is_dead(process) then call('SREM', P .. ':processes', process) end
end
-- Of those that died with an earlier run of this server, nobody can prove it any more.
for _, process in ipairs(call('HKEYS', LIVES)) do
  if not dead[process] and is_dead(process) then call('HDEL', LIVES, process) end
end

local function look_at(ids)
  for _, id in ipairs(ids) do
    local process = process_of(id)
    if room > 0 and not seen[id] and is_dead(process) then
      seen[id] = true
      room = room - 1
      local lease = call('HGET', LEASES, id)
      local text = call('HGET', OURS, id) or call('HGET', JOBS, id) or ''
      local phase = lease and string.match(lease, ' (%a+)$') or ''
      for _, value in ipairs({id, process, phase, text}) do found[#found + 1] = value end
    end
  end
end

local before, page = '(' .. digits(now - threshold), 1000
for _, set in ipairs({INDEX, BEATS}) do
  local from = 0
  repeat
    local ids = call('ZRANGEBYSCORE', set, '-inf', before, 'LIMIT', from, page)
    look_at(ids)
    from = from + page
  until #ids < page or room == 0
end
if next(dead) then
  local theirs = {}
  for _, id in ipairs(call('ZRANGE', BEATS, 0, -1)) do
    if dead[process_of(id)] then theirs[#theirs + 1] = id end
  end
  look_at(theirs)
end
return found
