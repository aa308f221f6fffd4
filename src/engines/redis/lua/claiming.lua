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
  for _, id in ipairs(due) do
    local t = call('HMGET', P .. 't:' .. id, 'o', 'r', 'u')
    drop('later:' .. lane, id)
    if t[1] then index_pending(id, lane, t[1], tonumber(t[2] or 0), t[3]) end
  end
  return #due > 0
end

-- Up to `limit` tasks in the order of priority, then age. Of each: id, score, and the index that it
-- is in (key, lane, suspect). Of every lane only as many are looked at as its limits allow, so what
-- they hold back is not in the way of other lanes.
local function find_candidates(queues, kinds, limit, most_suspects)
  local open, found = open_lanes(queues, kinds), {}
  local promoted, limited = false, read_limits()
  for _, each in ipairs(open) do
    promoted = promote(each[2]) or promoted
  end
  if promoted then flush() end
  local function look(key, most, lane, suspect)
    local some = call('ZRANGE', P .. key, 0, most - 1, 'WITHSCORES')
    local from, last = { key = key, lane = lane, suspect = suspect }, #found
    for i = 1, #some, 2 do
      last = last + 1
      found[last] = { some[i], some[i + 1], from }
    end
    return #some > 0
  end
  for _, each in ipairs(open) do
    local lane = each[2]
    local room = limited and room_for(lane, limit) or limit
    local any = room > 0 and look('ready:' .. lane, room, lane, false)
    if most_suspects > 0 and room > 0 then
      any = look('alone:' .. lane, math.min(room, most_suspects), lane, true) or any
    end
    -- A lane that has run empty is not looked at again until something is put into it.
    if not any and call('EXISTS', P .. 'ready:' .. lane, P .. 'alone:' .. lane,
      P .. 'later:' .. lane) == 0 then
      call('SREM', P .. 'lanes:' .. each[1], lane)
    end
  end
  -- What comes from one index is in order already.
  if #found > 0 and found[1][3] ~= found[#found][3] then
    for _, one in ipairs(found) do one[2] = tonumber(one[2]) end
    table.sort(found, function(a, b)
      if a[2] ~= b[2] then return a[2] < b[2] end
      return a[1] < b[1]
    end)
  end
  local chosen = {}
  for _, one in ipairs(found) do
    if #chosen == limit then break end
    local suspect = one[3].suspect
    -- Lanes may share a limit, so what each has room for may be too much for all of them.
    if (not suspect or most_suspects > 0) and (not limited or take_place(one[3].lane)) then
      if suspect then most_suspects = most_suspects - 1 end
      chosen[#chosen + 1] = one
    end
  end
  if limited then write_buckets() end
  return chosen
end
