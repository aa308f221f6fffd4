-- What every script begins with.
--
-- KEYS[1]  the tag of the store, with its braces: every other key begins with it, so all are in
--          one slot.
-- ARGV[1]  the wall clock and ARGV[2] the clock of leases, in milliseconds. Both are empty except
--          in tests: then the server's own clock is read.
-- ARGV[3]  and so on belong to the script, which takes them in order.
local call, ARGV = redis.call, ARGV
-- The build puts in the numbers of enum TaskState.
local PENDING, RUNNING, COMPLETED, FAILED, CANCELLED, BLOCKED, HELD =
  @PENDING@, @RUNNING@, @COMPLETED@, @FAILED@, @CANCELLED@, @BLOCKED@, @HELD@
local P = KEYS[1] .. ':'
local taken = 0
local function take()
  taken = taken + 1
  return ARGV[taken]
end
local function take_number() return tonumber(take()) end

local now, steady, token_floor
do
  local wall, leases = take(), take()
  if wall == '' then
    local time = call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
    steady = now
    token_floor = time[1] * 1000000 + time[2]
  else
    now, steady = tonumber(wall), tonumber(leases)
    token_floor = now * 1000
  end
end

-- Lua would write a number of this size with an exponent.
local function digits(number) return string.format('%.0f', number) end
local now_text = digits(now)

-- Whether a lease of a worker, whose leases have this length, is not to be believed: 1 if it has
-- ended, 2 if it ends later than it could have been written to end, because the clock was set back.
local function past_its_time(lease_end, length)
  if lease_end < steady then return 1 end
  return length and lease_end > steady + 2 * tonumber(length) and 2 or nil
end

-- A token that is greater than all that this store has given out, whatever became of the clock.
-- What one script claims or takes back shares one.
local given_token
local function next_token()
  if not given_token then
    given_token = digits(math.max(token_floor, tonumber(call('GET', P .. 'token') or 0) + 1))
    call('SET', P .. 'token', given_token)
  end
  return given_token
end

local function push(list, ...)
  local n = #list
  for i = 1, select('#', ...) do list[n + i] = select(i, ...) end
end

-- Calls with so many arguments at a time that Lua's stack holds them.
local function in_portions(command, key, list)
  for first = 1, #list, 2000 do
    call(command, key, unpack(list, first, math.min(first + 1999, #list)))
  end
end
