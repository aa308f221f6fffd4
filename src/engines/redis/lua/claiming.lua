-- Which tasks a claim may take.
local function open_lanes(queues, kinds)
  local paused = {}
  for _, queue in ipairs(call('HKEYS', P .. 'paused')) do paused[queue] = true end
  local open = {}
  for _, kind in ipairs(kinds) do
    local of_kind = #queues > 0 and queues or call('SMEMBERS', P .. 'queues:' .. kind)
    for _, queue in ipairs(of_kind) do
      if not paused[queue] then open[#open + 1] = { queue, kind, lane_of(queue, kind) } end
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
-- is in (key, lane, suspect).
local function find_candidates(queues, kinds, limit, most_suspects)
  local open, found = open_lanes(queues, kinds), {}
  local promoted = false
  for _, each in ipairs(open) do
    promoted = promote(each[3]) or promoted
  end
  if promoted then flush() end
  local function look(key, most, each, suspect)
    local some = call('ZRANGE', P .. key, 0, most - 1, 'WITHSCORES')
    local from, last = { key = key, lane = each[3], suspect = suspect }, #found
    for i = 1, #some, 2 do
      last = last + 1
      found[last] = { some[i], some[i + 1], from }
    end
    return #some > 0
  end
  for _, each in ipairs(open) do
    local any = limit > 0 and look('ready:' .. each[3], limit, each, false)
    if most_suspects > 0 and limit > 0 then
      any = look('alone:' .. each[3], math.min(limit, most_suspects), each, true) or any
    end
    -- A queue that has run empty is not looked at again until something is put into it.
    if not any and call('EXISTS', P .. 'ready:' .. each[3], P .. 'alone:' .. each[3],
      P .. 'later:' .. each[3]) == 0 then
      call('SREM', P .. 'queues:' .. each[2], each[1])
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
    if not suspect or most_suspects > 0 then
      if suspect then most_suspects = most_suspects - 1 end
      chosen[#chosen + 1] = one
    end
  end
  return chosen
end
