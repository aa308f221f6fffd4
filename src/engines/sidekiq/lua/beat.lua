-- A process says that it is alive, and which requests it holds.
--
-- ARGV    the process, its capacity, for how long it is alive without another word (seconds), the
--         registry's time to live in seconds, how many requests, and of each its id and token.
-- Result  the tokens of those that it does not hold any more.
local process, capacity, alive_for, ttl = take(), take(), take(), take()
call('SADD', P .. ':processes', process)
call('SET', P .. ':processes:' .. process .. ':max_connections', capacity, 'EX', alive_for)
keep_registry(ttl)
local lost = {}
for _ = 1, take_number() do
  local id, token = take(), take()
  if holds(id, token) then
    call('ZADD', INDEX, 'XX', now_text, id)
    call('ZADD', BEATS, heard(), id)
  else
    lost[#lost + 1] = token
  end
end
-- The gem does this only when it registers; then a long request outlives its own entry.
for _, key in ipairs({P .. ':processes', INDEX, JOBS}) do call('EXPIRE', key, ttl) end
return lost
