-- Which tasks a claim may take.
local function open_lanes(queues, kinds)
  local paused, wanted = {}, nil
  for _, queue in ipairs(call('HKEYS', P .. 'paused')) do paused[queue] = true end
  if #queues > 0 then
    wanted = {}
    for _, queue in ipairs(queues) do wanted[queue] = true end
  end
  local open = {}
  for _, kind in ipairs(kinds) do
    for _, lane in ipairs(call('SMEMBERS', P .. 'lanes:' .. kind)) do
      local queue = queue_of(lane)
      if not paused[queue] and (not wanted or wanted[queue]) then
        open[#open + 1] = { kind, lane }
      end
    end
  end
  return open
end

-- What has become due moves to the tasks that are ready, so many at a time.
local function promote(lane)
  local due = call('ZRANGEBYSCORE', P .. 'later:' .. lane, '-inf', now_text, 'LIMIT', 0, 500)
  if #due == 0 then return false end
  look_up(due)
  for _, id in ipairs(due) do
    local r = task_of(id)
    drop('later:' .. lane, id)
    if r then index_pending(id, lane, r.order, tonumber(r.run_at), unusual(id, r, 'u')[1]) end
  end
  return true
end

-- The indexes that have something for a claim. Of every lane only as many are looked at as its
-- limits allow, so what they hold back is not in the way of other lanes.
local function find_sources(open, limit, most_suspects, limited)
  local sources = {}
  local function consider(key, most, lane, suspect)
    if most <= 0 or call('ZCARD', P .. key) == 0 then return false end
    sources[#sources + 1] = { key = key, most = most, lane = lane, suspect = suspect, seen = 0,
      claimed = 0 }
    return true
  end
  for _, each in ipairs(open) do
    local lane = each[2]
    local room = limited and room_for(lane, limit) or limit
    local any = consider('ready:' .. lane, room, lane, false)
    any = consider('alone:' .. lane, math.min(room, most_suspects), lane, true) or any
    -- A lane that has run empty is not looked at again until something is put into it.
    if not any and call('EXISTS', P .. 'ready:' .. lane, P .. 'alone:' .. lane,
      P .. 'later:' .. lane) == 0 then
      call('SREM', P .. 'lanes:' .. each[1], lane)
    end
  end
  return sources
end

-- What the indexes have, in the order of priority, then age. Of each: id, score, and its index.
local function merge(sources)
  local found, n = {}, 0
  for _, source in ipairs(sources) do
    local some = call('ZRANGE', P .. source.key, 0, source.most - 1, 'WITHSCORES')
    for i = 1, #some, 2 do
      n = n + 1
      found[n] = { some[i], tonumber(some[i + 1]), source }
    end
  end
  table.sort(found, function(a, b)
    if a[2] ~= b[2] then return a[2] < b[2] end
    return a[1] < b[1]
  end)
  return found
end

-- Up to `limit` tasks in the order of priority, then age: their ids, and the index of each. What is
-- chosen of an index are its first ones.
local function find_candidates(queues, kinds, limit, most_suspects)
  local open, promoted, limited = open_lanes(queues, kinds), false, read_limits()
  for _, each in ipairs(open) do promoted = promote(each[2]) or promoted end
  if promoted then flush() end
  local sources, ids, from = find_sources(open, limit, most_suspects, limited), {}, {}
  -- What comes from one index is in order already.
  if #sources == 1 and not limited then
    local source = sources[1]
    ids = call('ZRANGE', P .. source.key, 0, source.most - 1)
    for i = 1, #ids do from[i] = source end
    return ids, from
  end
  local n = 0
  for _, one in ipairs(merge(sources)) do
    if n == limit then break end
    local source = one[3]
    -- Lanes may share a limit, so what each has room for may be too much for all of them.
    if (not source.suspect or most_suspects > 0) and (not limited or take_place(source.lane)) then
      if source.suspect then most_suspects = most_suspects - 1 end
      n = n + 1
      ids[n], from[n] = one[1], source
    end
  end
  if limited then write_buckets() end
  return ids, from
end
