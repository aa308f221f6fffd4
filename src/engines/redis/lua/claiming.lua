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
  local function consider(index, most, lane, size)
    local key = index .. lane
    if most <= 0 or call(size or 'ZCARD', P .. key) == 0 then return false end
    sources[#sources + 1] = { key = key, most = most, lane = lane, list = index == 'fresh:',
      suspect = index == 'alone:', seen = 0, claimed = 0 }
    return true
  end
  for _, each in ipairs(open) do
    local lane = each[2]
    local room = limited and room_for(lane, limit) or limit
    local any = consider('fresh:', room, lane, 'LLEN')
    any = consider('ready:', room, lane) or any
    any = consider('alone:', math.min(room, most_suspects), lane) or any
    -- A lane that has run empty is not looked at again until something is put into it.
    if not any and call('EXISTS', P .. 'fresh:' .. lane, P .. 'ready:' .. lane,
      P .. 'alone:' .. lane, P .. 'later:' .. lane) == 0 then
      call('SREM', P .. 'lanes:' .. each[1], lane)
      disturb(lane)
    end
  end
  return sources
end

-- The first tasks of an index: ids and scores; of those in a list also the marker before each, its
-- body, and how far it reaches.
local function peek_list(key, most)
  local ids, scores, markers, bodies, ends = {}, {}, {}, {}, {}
  local n, at, marker, score = 0, 0, nil, 0
  while n < most do
    local entries, i = call('LRANGE', key, at, at + 2 * (most - n)), 1
    while i < #entries and n < most do
      local entry = entries[i]
      if is_marker(entry) then
        marker, i = entry, i + 1
        -- A clock that was set back must not change the order.
        score = math.max(score, tonumber(string.sub(entry, 2)))
      else
        n = n + 1
        ids[n], scores[n], markers[n], bodies[n] = entry, score, marker, entries[i + 1]
        ends[n], i = at + i + 1, i + 2
      end
    end
    if i == 1 then break end
    at = at + i - 1
  end
  return { ids = ids, scores = scores, markers = markers, bodies = bodies, ends = ends }
end
local function peek(source)
  local key, most = P .. source.key, source.most
  if source.list then return peek_list(key, most) end
  local some, ids, scores = call('ZRANGE', key, 0, most - 1, 'WITHSCORES'), {}, {}
  for i = 1, #some / 2 do
    ids[i], scores[i] = some[2 * i - 1], tonumber(some[2 * i])
  end
  return { ids = ids, scores = scores }
end

-- So much of the beginning of a list has been dealt with; `marker` was the last one in it.
local function cut_off(key, length, marker)
  call('LTRIM', key, length, -1)
  local rest = call('LINDEX', key, 0)
  if rest and not is_marker(rest) then call('LPUSH', key, marker) end
end
-- The first ones of an index have been dealt with, up to this place.
local function take_off(source, place)
  local key, first = P .. source.key, source.first
  if not source.list then return call('ZREMRANGEBYRANK', key, 0, place - 1) end
  cut_off(key, first.ends[place], first.markers[place])
end

-- Leaves out what only is in its list: limits must not count it.
local function valid_ones(first)
  local valid, n = { ids = {}, scores = {}, markers = {}, bodies = {}, ends = {} }, 0
  for i, text in ipairs(read_records(first.ids, 1, #first.ids)) do
    if text and is_fresh(parse(text), first.markers[i]) then
      n = n + 1
      for what, list in pairs(valid) do list[n] = first[what][i] end
    end
  end
  return valid
end
-- Takes off the beginning of a list what has left it by another way; in one script so many times
-- so much of it at the most.
local MOST_LOOKS, A_LOOK = 20, 500
local function skip_gone(source)
  local wide = { key = source.key, most = A_LOOK, list = true }
  for _ = 1, MOST_LOOKS do
    wide.first = peek(wide)
    local seen, valid = wide.first.ends, valid_ones(wide.first).ends
    if #valid == 0 and #seen > 0 then
      take_off(wide, #seen)
    else
      for place = #seen, 1, -1 do
        if valid[1] and seen[place] < valid[1] then return take_off(wide, place) end
      end
      return
    end
  end
end
local function peek_valid(source)
  source.first = peek(source)
  if not source.list then return end
  local valid = valid_ones(source.first)
  if #valid.ids == 0 then
    skip_gone(source)
    valid = valid_ones(peek(source))
  end
  source.first = valid
end

-- What the indexes have, in the order of priority, then age. Of each: score, number of its index,
-- place there.
local function merge(sources, limited)
  local found, n = {}, 0
  for number, source in ipairs(sources) do
    if limited then peek_valid(source) else source.first = peek(source) end
    for place = 1, #source.first.ids do
      n = n + 1
      found[n] = { source.first.scores[place], number, place }
    end
  end
  table.sort(found, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    if a[2] ~= b[2] then return a[2] < b[2] end
    return a[3] < b[3]
  end)
  return found
end

-- The indexes that a claim may take from, and whether something is limited.
local function look_around(queues, kinds, limit, most_suspects)
  local open, promoted, limited = open_lanes(queues, kinds), false, read_limits()
  for _, each in ipairs(open) do promoted = promote(each[2]) or promoted end
  if promoted then flush() end
  return find_sources(open, limit, most_suspects, limited), limited
end

-- Up to `limit` tasks in the order of priority, then age: their ids, the index of each, and its
-- place there. What is chosen of an index are its first ones. `look_on`: there was something that
-- is not in its list any more.
local function find_candidates(sources, limited, limit, most_suspects, look_on)
  local ids, from, places = {}, {}, {}
  for _, source in ipairs(sources) do
    if look_on and source.list then skip_gone(source) end
  end
  -- What comes from one index is in order already.
  if #sources == 1 and not limited then
    local source = sources[1]
    source.first = peek(source)
    ids = source.first.ids
    for i = 1, #ids do from[i], places[i] = source, i end
    return ids, from, places
  end
  local n = 0
  for _, one in ipairs(merge(sources, limited)) do
    if n == limit then break end
    local source = sources[one[2]]
    -- Lanes may share a limit, so what each has room for may be too much for all of them.
    if (not source.suspect or most_suspects > 0) and (not limited or take_place(source.lane)) then
      if source.suspect then most_suspects = most_suspects - 1 end
      n = n + 1
      ids[n], from[n], places[n] = source.first.ids[one[3]], source, one[3]
    end
  end
  if limited then write_buckets() end
  return ids, from, places
end
