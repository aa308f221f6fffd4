-- What every script begins with.
--
-- KEYS[1]  what the keys of the gem begin with, such as sidekiq:async_http. A standalone server is
--          assumed: the keys of Sidekiq itself are in no slot together.
-- ARGV     belongs to the script, which takes it in order.
--
-- The gem's registry: an index (when each request was last heard of) and the jobs, both with a time
-- to live. Ours beside it, without one, is the truth: the lease of each request that a Holdfast
-- process holds ("token phase", or "token host phase" where hosts have a limit), its job, and when its
-- process was last heard of.
--
-- Processes of several versions may work here at once, each with its own scripts. One that keeps
-- something of ours so that another would misread it has another format.
local call = redis.call
local P = KEYS[1]
local format = call('GET', P .. ':holdfast:format') or '1'
if format ~= '1' then
  return redis.error_reply('ERR requests in flight are kept here in format ' .. format ..
    ', and this version of Holdfast knows 1 only')
end
local INDEX, JOBS = P .. ':inflight_index', P .. ':inflight_jobs'
local LEASES, OURS = P .. ':holdfast:leases', P .. ':holdfast:jobs'
local BEATS, LIVES = P .. ':holdfast:beats', P .. ':holdfast:lives'
local taken = 0
local function take()
  taken = taken + 1
  return ARGV[taken]
end
local function take_number() return tonumber(take()) end

-- Lua would write a number of this size with an exponent.
local function digits(number) return string.format('%.0f', number) end
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local now_text = digits(now)

-- The first of so many, which follow each other.
local function next_tokens(count)
  local last = tonumber(call('GET', P .. ':holdfast:token') or '0')
  local first = math.max(last + 1, time[1] * 1000000 + time[2])
  call('SET', P .. ':holdfast:token', digits(first + count - 1))
  return first
end

-- One command for many values: most of what a script costs is the number of its commands. Of more
-- than some thousand, Lua could not hand over all at once.
local function in_portions(command, key, values)
  for from = 1, #values, 1000 do
    call(command, key, unpack(values, from, math.min(from + 999, #values)))
  end
end

local function process_of(id) return string.match(id, '^([^/]*)/') or '' end
local function is_alive(process)
  return call('EXISTS', P .. ':processes:' .. process .. ':max_connections') == 1
end

-- `scores` has the time and the id of each, `texts` the id and the job.
local function register_all(scores, texts, ttl)
  in_portions('ZADD', INDEX, scores)
  in_portions('HSET', JOBS, texts)
  call('EXPIRE', INDEX, ttl)
  call('EXPIRE', JOBS, ttl)
end

local function forget_all(ids)
  in_portions('ZREM', INDEX, ids)
  in_portions('HDEL', JOBS, ids)
  in_portions('HDEL', LEASES, ids)
  in_portions('HDEL', OURS, ids)
  in_portions('ZREM', BEATS, ids)
end
local function forget(id) forget_all({id}) end

local function token_of(id)
  local lease = call('HGET', LEASES, id)
  return lease and string.match(lease, '^%d+')
end

-- The gem's registry may be lost: it expires, and it can be cleared. Among its jobs is a mark of
-- ours, which only our scripts ask for, and which is lost with it: since when the registry is there,
-- later than all that was heard before. While the mark is there, what is missing was taken out by
-- a Ruby process. Whether a request that was not heard of since was taken out before cannot be known:
-- only its holder can say that it still has it.
local MARK = 'holdfast'
local begun, lifetime
local function keep_registry(ttl)
  lifetime = ttl
  begun = tonumber(call('HGET', JOBS, MARK) or '')
  if begun then return end
  local last = call('ZRANGE', BEATS, -1, -1, 'WITHSCORES')[2]
  begun = math.max(now, math.floor(tonumber(last or '0')) + 1)
  call('HSET', JOBS, MARK, digits(begun))
  call('EXPIRE', JOBS, ttl)
end
local function is_from_before(id)
  local beat = call('ZSCORE', BEATS, id)
  return beat and tonumber(beat) < begun
end
-- The time of what is heard of a request.
local function heard() return digits(math.max(now, begun)) end

-- A Ruby process has put its job back on its queue: the gem takes such an entry out of both. To be
-- asked after `keep_registry`.
local function was_taken_out(id)
  return not call('ZSCORE', INDEX, id) and call('HEXISTS', JOBS, id) == 0
end

-- Whether a holder still holds a request. One that was taken out is nobody's here.
local function holds(id, token)
  if token_of(id) ~= token then return false end
  if is_from_before(id) then
    call('HSET', JOBS, id, call('HGET', OURS, id) or '')
    call('ZADD', INDEX, now_text, id)
    call('ZADD', BEATS, heard(), id)
    call('EXPIRE', INDEX, lifetime)
    return true
  end
  if call('ZSCORE', INDEX, id) then return true end
  if was_taken_out(id) then
    forget(id)
    return false
  end
  call('ZADD', INDEX, now_text, id)
  return true
end

local function kill(text)
  local seconds = now / 1000
  call('ZADD', 'dead', string.format('%.3f', seconds), text)
  call('ZREMRANGEBYSCORE', 'dead', '-inf', string.format('%.3f', seconds - 180 * 86400))
  call('ZREMRANGEBYRANK', 'dead', 0, -10000)
end

-- One thing that becomes of a job: ARGV is what (push, return, later, dead, forget), where, when,
-- and the text.
local function take_effect() return {take(), take(), take(), take()} end
local function apply(effect)
  local what, where, when, text = unpack(effect)
  if what == 'push' then
    call('SADD', 'queues', where)
    call('LPUSH', 'queue:' .. where, text)
  elseif what == 'return' then
    call('SADD', 'queues', where)
    call('RPUSH', 'queue:' .. where, text)
  elseif what == 'later' then
    call('ZADD', where, when, text)
  elseif what == 'dead' then
    kill(text)
  elseif what == 'forget' then
    call('DEL', where)
  end
end
