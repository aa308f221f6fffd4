-- Settles what has ended and claims anew, in one step.
--
-- ARGV: number of groups of plain settlements (completed, and nothing unusual to say); of each:
--       token, attempt, have results (1, 0), number of follow-up tasks of each, their record if
--       who claimed them knows it ('' if not), how many of their claim still run by that, number
--       of ids, these, their results if they have some;
--       number of groups of other settlements; of each: the change that was decided (see
--       changes.lua), number of follow-up tasks of each, number of ids, these;
--       the follow-up tasks of all of them in order (see new_tasks.lua);
--       worker ('' to claim nothing), limit, most suspects, lease, number of queues, these (none:
--       all), number of kinds, these, number of this claim, count of earlier claims of this worker
--       whose answers were lost, their numbers
-- Result: {'ok', settled, buried, claimed, follow-ups, dependents, now}: settled has those that
--         were not simply accepted: place among all settlements as they are in ARGV (from 0), and 1
--         (repeated), 2 (refused) or 3 (the task is still claimed, but not what the change was
--         decided for);
--         claimed has runs of tasks: token, lane, attempt, suspect (1, 0), not before or order,
--         their record if all of them have the same ('' if not), and a list of id, body;
--         follow-ups has those of accepted settlements that are not simply new and pending: place
--         among all follow-ups (from 0), id, state ('' if it was there already);
--         dependents has those that are to hear of ends (see dependents.lua);
--         or {'exists' | 'unknown' | 'cancelled', id} about a follow-up, then nothing was done
local groups, others, plain_ones, births = {}, {}, 0, 0
for i = 1, take_number() do
  local group = { token = take(), attempt = take(), have_results = take() == '1',
    births = take_number(), record = take(), left = take(), place = plain_ones,
    first_birth = births + 1 }
  local ids = take_number()
  group.first, group.last, group.ids = taken + 1, taken + ids, ids
  taken, plain_ones = group.last + (group.have_results and ids or 0), plain_ones + ids
  births = births + ids * group.births
  groups[i] = group
end
for i = 1, take_number() do
  local group = { change = take_change(), births = take_number(), first_birth = births + 1 }
  local ids = take_number()
  group.token, group.first, group.last = group.change.before.token, taken + 1, taken + ids
  taken, births = group.last, births + ids * group.births
  others[i] = group
end

-- Follow-ups come into being with the acceptance of their settlement only.
local follow_ups, born = take_tasks(), {}
local function bear(list, first, count)
  for i = first, first + count - 1 do list[#list + 1] = follow_ups[i] end
end
local function check_follow_ups()
  local expected = {}
  local function consider(text, token, first, count)
    local r = text and parse(text)
    if r and r.state == RUNNING and r.token == token then bear(expected, first, count) end
  end
  for _, group in ipairs(groups) do
    if group.births > 0 then
      group.texts = read_records(ARGV, group.first, group.last)
      for i, text in ipairs(group.texts) do
        consider(text, group.token, group.first_birth + (i - 1) * group.births, group.births)
      end
    end
  end
  for _, group in ipairs(others) do
    for i, text in ipairs(group.births > 0 and read_records(ARGV, group.first, group.last) or {}) do
      consider(text, group.token, group.first_birth + (i - 1) * group.births, group.births)
    end
  end
  return check_tasks(expected)
end
if births > 0 and doubtful then
  local wrong, id = check_follow_ups()
  if wrong then return { wrong, id } end
end

local refused, ended_any, woken, settled = 0, false, false, {}
-- What is read is written before the next is read: it still is in the processor's cache then.
local A_HANDFUL = 200
do -- settles; a script may have 200 names of its own at a time
  -- The task of a settlement, if it is still claimed by who settles it; else what to answer.
  local function claimed_by(one)
    local r = task_of(one.id)
    if r and r.state == RUNNING and r.token == one.token then return r end
    if r and r.token == one.token then return nil, 1 end
    refused = refused + 1
    return nil, 2
  end
  local function take_over_births(one)
    ended_any = true
    bear(born, one.first_birth, one.births)
    return 0
  end
  -- A plain end of a task about which something is unusual.
  local function complete(one)
    local r, how = claimed_by(one)
    if not r then return how end
    local key, more = P .. 't:' .. one.id, unusual(one.id, r, 'uk', 'd')
    if r.more ~= '' then call('HDEL', key, 'x', 'w', 'u') end
    local new = { state = COMPLETED, attempt = one.attempt, result = one.result,
      finished = now_text }
    if is_long(one.result) then
      call('HSET', key, 'w', one.result)
      new.result, new.more = '', '+'
    end
    end_task(one.id, COMPLETED, more[1], more[2] and '')
    change(one.id, r, new)
    release(r.worker, r.number, { one.id })
    count(r.lane, RUNNING, -1)
    count(r.lane, COMPLETED, 1)
    return take_over_births(one)
  end
  local function settle(one)
    local r, how = claimed_by(one)
    if not r then return how end
    local more = as_decided(one.change, one.id, r)
    if not more then return 3 end
    apply_change(one.change, one.id, r, more)
    woken = woken or one.change.to == PENDING
    return take_over_births(one)
  end
  local function answer(place, how)
    if how == 0 then return end
    settled[#settled + 1] = place
    settled[#settled + 1] = how
  end

  -- What a record becomes by a plain end, before its result and after it; false where that end is
  -- not plain after all.
  local function plain_end(text, token, attempt)
    if not text then return false end
    local r = parse(text)
    if r.state ~= RUNNING or r.token ~= token then return false end
    if r.more ~= '' then return false end
    local whole = record_text(r, { state = COMPLETED, attempt = attempt, finished = now_text,
      result = '' })
    local after = '\31' .. r.lane
    return { worker = r.worker, number = r.number, lane = r.lane, ids = {}, n = 0, text = whole,
      before = string.sub(whole, 1, #whole - #after), after = after }
  end
  local function settle_some(group, first, last, ends)
    local texts, text_before, same = group.texts, group.first - 1, group.same
    if not texts and not same then
      texts, text_before = read_records(ARGV, first, last), first - 1
    end
    local token, attempt, births = group.token, group.attempt, group.births
    local results = group.have_results and group.ids
    local records, n, seen, plain = {}, 0, nil, nil
    for at = first, last do
      local id, text = ARGV[at], same or texts[at - text_before]
      local result = results and ARGV[at + results] or ''
      -- Mostly the same as before.
      if text ~= seen then
        seen, plain = text, ends[text]
        if plain == nil then
          plain = plain_end(text, token, attempt)
          ends[text] = plain
        end
      end
      if plain and (result == '' or not is_long(result)) then
        local place = plain.n + 1
        plain.n, plain.ids[place] = place, id
        local becomes = result == '' and plain.text or plain.before .. result .. plain.after
        records[n + 1], records[n + 2] = id, becomes
        n = n + 2
        if known[id] then known[id] = becomes end
        if births > 0 then bear(born, group.first_birth + (at - group.first) * births, births) end
      else
        answer(group.place + at - group.first, complete({ id = id, token = token, result = result,
          attempt = attempt, births = births,
          first_birth = group.first_birth + (at - group.first) * births }))
      end
    end
    in_portions('HSET', P .. 'tasks', records)
  end
  local function settle_group(group)
    local ends = {}
    if group.record ~= '' and is_as_said(group.record, group.left) then
      group.same = group.record
    end
    for first = group.first, group.last, A_HANDFUL do
      settle_some(group, first, math.min(first + A_HANDFUL - 1, group.last), ends)
    end
    for _, plain in pairs(ends) do
      if plain then
        write_completed(plain.ids, now_text)
        release(plain.worker, plain.number, plain.ids)
        count(plain.lane, RUNNING, -plain.n)
        count(plain.lane, COMPLETED, plain.n)
        ended_any = true
      end
    end
  end

  -- Ends that were decided. Most tasks of a group have the same record.
  local function settle_others(group, place_before)
    local c, births, ones = group.change, group.births, {}
    for first = group.first, group.last, A_HANDFUL do
      local last = math.min(first + A_HANDFUL - 1, group.last)
      local texts, alike, changes_of = read_records(ARGV, first, last), {}, {}
      for at = first, last do
        local id, text = ARGV[at], texts[at - first + 1]
        local one = changes_of[text]
        if one == nil then
          one = alike_change(c, text)
          changes_of[text] = one
          if one then alike[one] = {} end
        end
        local first_birth = group.first_birth + (at - group.first) * births
        -- One that was named before and changed by that is not what was read.
        if one and not changed[id] and not ones[id] then
          ones[id] = true
          push(alike[one], id)
          take_over_births({ first_birth = first_birth, births = births })
        else
          ones[#ones + 1] = { id = id, token = group.token, change = c, births = births,
            first_birth = first_birth, place = place_before + at }
        end
      end
      for one, ids in pairs(alike) do
        apply_alike(one, ids)
        woken = woken or c.to == PENDING
      end
    end
    for _, one in ipairs(ones) do answer(one.place, settle(one)) end
  end

  for _, group in ipairs(groups) do settle_group(group) end
  local place_of_others = plain_ones
  for _, group in ipairs(others) do
    settle_others(group, place_of_others - group.first)
    place_of_others = place_of_others + group.last - group.first + 1
  end
end
-- Places in the list of what was born, as places among all follow-ups.
local function among_follow_ups(others)
  if #others == 0 then return others end
  local place_of_birth = {}
  for i, t in ipairs(follow_ups) do place_of_birth[t] = i - 1 end
  for i = 1, #others, 3 do others[i] = place_of_birth[born[others[i] + 1]] end
  return others
end
local other_births = {}
if #born > 0 then
  other_births = among_follow_ups(write_tasks(born))
  woken = true
end
flush()
if refused > 0 then call('HINCRBY', P .. 'totals', 'refused', refused) end
-- Where something is limited, an end may be what others wait for.
if woken or (ended_any and call('EXISTS', P .. 'limits') == 1) then
  announce('work')
end

local function reply(buried, claimed)
  return { 'ok', settled, buried, claimed, other_births, dependents(), now_text }
end
local worker = take()
if worker == '' then return reply(0, {}) end
local limit, most_suspects, lease = take_number(), take_number(), take_number()
local queues, kinds = {}, {}
for i = 1, take_number() do queues[i] = take() end
for i = 1, take_number() do kinds[i] = take() end
local number, unanswered = take(), {}
for _ = 1, take_number() do unanswered[take()] = true end
if call('HGET', P .. 'w:' .. worker, 's') ~= '0' then return reply(1, {}) end

-- `run`: those that were claimed last, which are alike.
local ids, claimed_ones, claimed, all_heads = {}, 0, {}, {}
local run, run_head, run_end = nil, nil, 0
-- Where bodies are missing.
local missing, missing_at, missing_ones = {}, {}, 0
local function begin_run(head)
  local n = #claimed
  run, run_head, run_end = {}, head, 0
  for i = 1, 6 do claimed[n + i] = head[i] end
  claimed[n + 7] = run
end
local function add_claimed(id, head, body)
  if head ~= run_head then begin_run(head) end
  claimed_ones = claimed_ones + 1
  ids[claimed_ones] = id
  run[run_end + 1], run[run_end + 2] = id, body or ''
  run_end = run_end + 2
  if not body or body == '' then
    missing_ones = missing_ones + 1
    missing[missing_ones], missing_at[missing_ones] = run, run_end
  end
end
-- What is said of a run of claimed tasks, once for all that are alike.
local function head_of(r, token, lane, attempt, suspect)
  local since = r.run_at ~= '0' and r.run_at or r.order
  local name = table.concat({ token, attempt, suspect, since, lane }, '\31')
  local head = all_heads[name]
  if not head then
    head = { token, lane, attempt, suspect, since, '' }
    all_heads[name] = head
  end
  return head
end

local lease_end = digits(steady + lease)
if next(unanswered) then
  for id, one in pairs(held_by(worker)) do
    local r = one.record
    if unanswered[r.number] then
      local suspect = unusual(id, r, 'u')[1] and 1 or 0
      add_claimed(id, head_of(r, r.token, r.lane, r.attempt, suspect))
    end
  end
  if claimed_ones > 0 then renew(worker, ids, lease_end) end
  limit = math.max(limit - claimed_ones, 0)
end
local had = claimed_ones

local function claim_of(text, source)
  local r = text and parse(text)
  -- What is in the index only is nothing.
  if not r or r.state ~= PENDING then return false end
  local marker = '=' .. r.order
  if source.list and not is_fresh(r, marker) then return false end
  local attempt = tostring(tonumber(r.attempt) + 1)
  return { head = head_of(r, next_token(), source.lane, attempt, source.suspect and 1 or 0),
    marker = marker, text = record_text(r, { state = RUNNING, token = next_token(),
      attempt = attempt, worker = worker, claimed = now_text, number = number }) }
end
local claims = {}
local function claim_some(candidates, from, places, first, last)
  local texts, records, n = read_records(candidates, first, last), {}, 0
  local source, of_source, markers, bodies
  for i = 1, #texts do
    local id, text, place = candidates[first + i - 1], texts[i], places[first + i - 1]
    if from[first + i - 1] ~= source then
      source = from[first + i - 1]
      of_source = claims[source] or {}
      claims[source] = of_source
      markers, bodies = source.first.markers, source.first.bodies
    end
    local claim = of_source[text]
    if claim == nil then
      claim = claim_of(text, source)
      of_source[text] = claim
    end
    source.reached = place
    if claim and (not markers or claim.marker == markers[place]) then
      source.claimed = source.claimed + 1
      records[n + 1], records[n + 2] = id, claim.text
      n = n + 2
      add_claimed(id, claim.head, bodies and bodies[place])
    end
  end
  in_portions('HSET', P .. 'tasks', records)
end
-- Where everything comes from one list, and that is intact, nothing has to be looked at.
local function claim_intact(source)
  local key, records, n, marker, head, text = P .. source.key, {}, 0, nil, nil, nil
  local at, most = 0, source.most
  while source.claimed < most do
    local entries, i = call('LRANGE', key, at, at + 2 * (most - source.claimed)), 1
    local last = #entries
    while i < last and source.claimed < most do
      local entry = entries[i]
      if is_marker(entry) then
        marker, i = entry, i + 1
        local order = string.sub(entry, 2)
        text = table.concat({ RUNNING, '', next_token(), '1', order, '0', worker, now_text, number,
          '', '', source.lane }, '\31')
        head = { next_token(), source.lane, '1', 0, order, text }
      else
        records[n + 1], records[n + 2] = entry, text
        n = n + 2
        add_claimed(entry, head, entries[i + 1])
        i, source.claimed = i + 2, source.claimed + 1
      end
    end
    if i == 1 then break end
    at = at + i - 1
  end
  in_portions('HSET', P .. 'tasks', records)
  cut_off(key, at, marker)
end
local function claim_merged(sources, limited, look_on)
  local candidates, from, places =
    find_candidates(sources, limited, limit, most_suspects, look_on)
  for first = 1, #candidates, A_HANDFUL do
    claim_some(candidates, from, places, first, math.min(first + A_HANDFUL - 1, #candidates))
  end
  for each in pairs(claims) do
    -- What was taken from an index were its first ones.
    take_off(each, each.reached)
    if each.suspect then most_suspects = most_suspects - each.claimed end
  end
  claims = {}
  return #candidates
end
local MOST_ROUNDS = 5
for round = 1, MOST_ROUNDS do
  local before, looked_at = claimed_ones, 0
  local sources, limited = look_around(queues, kinds, limit, most_suspects)
  if #sources == 1 and not limited and sources[1].list
    and call('SISMEMBER', P .. 'intact', sources[1].lane) == 1 then
    claim_intact(sources[1])
    looked_at = sources[1].claimed
  else
    looked_at = claim_merged(sources, limited, round > 1)
  end
  for _, each in ipairs(sources) do
    count(each.lane, PENDING, -each.claimed)
    count(each.lane, RUNNING, each.claimed)
  end
  limit = limit - (claimed_ones - before)
  -- Once more only where something has left its list by another way.
  if limit == 0 or claimed_ones - before == looked_at then break end
end
flush()
if claimed_ones == 0 then return reply(0, {}) end

hold(worker, number, ids, had + 1, claimed_ones, lease_end)

-- Bodies that did not come with the ids.
for first = 1, missing_ones, 2000 do
  local keys, before = {}, first - 1
  for i = first, math.min(first + 1999, missing_ones) do
    keys[i - before] = P .. 'p:' .. missing[i][missing_at[i] - 1]
  end
  local found = call('MGET', unpack(keys))
  for i = 1, #found do missing[before + i][missing_at[before + i]] = found[i] or '' end
end
return reply(0, claimed)
