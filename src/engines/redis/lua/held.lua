-- What workers hold. A claim is a list: the end of its leases after a '=', then the ids that it
-- took. Tasks leave it by not running any more, which their records say; it is only counted how
-- many are left, and with the last one the list goes. So a quick task costs a place in a list and
-- no more. Those whose lease was renewed have its end in a hash beside it.
local function claim_key(worker, number) return P .. 'claim:' .. worker .. ':' .. number end

local function hold(worker, number, ids, first, last, lease_end)
  if last < first then return end
  local key = claim_key(worker, number)
  call('RPUSH', key, '=' .. lease_end)
  for from = first, last, 2000 do
    call('RPUSH', key, unpack(ids, from, math.min(from + 1999, last)))
  end
  call('HINCRBY', P .. 'held:' .. worker, number, last - first + 1)
  call('ZADD', P .. 'holders', 'LT', lease_end, worker)
end

local function renew(worker, ids, lease_end)
  local leases = {}
  for i, id in ipairs(ids) do
    leases[2 * i - 1], leases[2 * i] = id, lease_end
  end
  in_portions('HSET', P .. 'leases:' .. worker, leases)
  call('ZADD', P .. 'holders', 'XX', 'LT', lease_end, worker)
end

-- Tasks of one claim do not run any more. Written in the end.
local let_go = {}
local function release(worker, number, ids)
  local gone = let_go[worker]
  if not gone then
    gone = { claims = {}, lists = {} }
    let_go[worker] = gone
  end
  gone.claims[number] = (gone.claims[number] or 0) + #ids
  gone.lists[#gone.lists + 1] = ids
end
local function write_releases()
  for worker, gone in pairs(let_go) do
    for number, n in pairs(gone.claims) do
      if call('HINCRBY', P .. 'held:' .. worker, number, -n) <= 0 then
        call('HDEL', P .. 'held:' .. worker, number)
        call('DEL', claim_key(worker, number))
        call('SREM', P .. 'touched', worker .. ':' .. number)
      end
    end
    if call('EXISTS', P .. 'leases:' .. worker) == 1 then
      for _, ids in ipairs(gone.lists) do in_portions('HDEL', P .. 'leases:' .. worker, ids) end
    end
  end
  let_go = {}
end

-- Whether what is said of a claim is so: that many of its tasks run, and nothing unusual has become
-- of them. Their records are what they were made, then.
local function is_as_said(text, left)
  local r = parse(text)
  return call('HGET', P .. 'held:' .. r.worker, r.number) == left
    and call('SISMEMBER', P .. 'touched', r.worker .. ':' .. r.number) == 0
end

-- The running tasks of a worker: by id, record and end of the lease. Read once by a script.
local holdings = {}
local function held_by(worker)
  if holdings[worker] then return holdings[worker] end
  local ids, numbers, ends, n, held = {}, {}, {}, 0, {}
  for _, number in ipairs(call('HKEYS', P .. 'held:' .. worker)) do
    local lease_end
    for _, entry in ipairs(call('LRANGE', claim_key(worker, number), 0, -1)) do
      if string.sub(entry, 1, 1) == '=' then
        lease_end = tonumber(string.sub(entry, 2))
      else
        n = n + 1
        ids[n], numbers[n], ends[n] = entry, number, lease_end
      end
    end
  end
  for i, text in ipairs(read_records(ids, 1, n)) do
    local r = text and parse(text)
    if r and r.state == RUNNING and r.worker == worker and r.number == numbers[i] then
      held[ids[i]] = { record = r, lease_end = ends[i] }
    end
  end
  local renewed = call('HGETALL', P .. 'leases:' .. worker)
  for i = 1, #renewed, 2 do
    local one = held[renewed[i]]
    if one then one.lease_end = tonumber(renewed[i + 1]) end
  end
  holdings[worker] = held
  return held
end
