-- The record of a task: what changes in the plain life of a task, as one text in the hash of all
-- tasks, so that one command reads or writes many of them. Its parts, with \31 between them: state,
-- '+' if it also has a hash of what is unusual about it (see keys.hpp), token, attempts, order, not
-- before (0: at once), worker, claimed at, number of the claim, finished at, result if that is
-- short, lane.
--
-- Tasks that were inserted, claimed and settled together have equal records, and to Lua equal texts
-- are one: what was worked out for a text is found again for all others by looking it up.
local finished = { [COMPLETED] = true, [FAILED] = true, [CANCELLED] = true }

local RECORD = '^(%d)\31(%+?)\31(%d*)\31(%d*)\31(%-?%d*)\31(%d*)\31([^\31]*)\31(%d*)\31(%d*)' ..
  '\31(%d*)\31([^\31]*)\31(.*)$'
local parsed = {}
local function parse(text)
  local r = parsed[text]
  if not r then
    r = {}
    r.state, r.more, r.token, r.attempt, r.order, r.run_at, r.worker, r.claimed, r.number,
      r.finished, r.result, r.lane = string.match(text, RECORD)
    parsed[text] = r
  end
  return r
end

-- `r` as it becomes with `new`.
local function record_text(r, new)
  return table.concat({ new.state or r.state, new.more or r.more, new.token or r.token,
    new.attempt or r.attempt, new.order or r.order, new.run_at or r.run_at, new.worker or r.worker,
    new.claimed or r.claimed, new.number or r.number, new.finished or r.finished,
    new.result or r.result, r.lane }, '\31')
end

-- The records of the ids between two places of a list; false where there is none.
local function read_records(ids, first, last)
  if last < first then return {} end
  if last - first < 2000 then return call('HMGET', P .. 'tasks', unpack(ids, first, last)) end
  local texts, n = {}, 0
  for from = first, last, 2000 do
    local some = call('HMGET', P .. 'tasks', unpack(ids, from, math.min(from + 1999, last)))
    for i = 1, #some do texts[n + i] = some[i] end
    n = n + #some
  end
  return texts
end

-- A list of fresh tasks is intact as long as everything in it counts and is nothing unusual: then a
-- claim knows their records without reading them. It is so again when it was empty.
local function disturb(lane) call('SREM', P .. 'intact', lane) end

-- What this script knows of records, and what it has changed: that is written once, in the end.
local known, changed = {}, {}
local function look_up(ids)
  local texts = read_records(ids, 1, #ids)
  for i, id in ipairs(ids) do
    if known[id] == nil then known[id] = texts[i] end
  end
end
local function task_of(id)
  local text = known[id]
  if text == nil then
    text = call('HGET', P .. 'tasks', id)
    known[id] = text
  end
  return text and parse(text)
end
local function change(id, r, new)
  local text = record_text(r, new)
  known[id], changed[id] = text, text
  if r.state == PENDING and r.token == '0' then disturb(r.lane) end
  if r.state == RUNNING and r.more == '' and new.more == '+' then
    call('SADD', P .. 'touched', r.worker .. ':' .. r.number)
  end
end
local function write_records()
  local list, n = {}, 0
  for id, text in pairs(changed) do
    list[n + 1], list[n + 2] = id, text
    n = n + 2
  end
  in_portions('HSET', P .. 'tasks', list)
  changed = {}
end

-- Fields of what is unusual about a task.
local function unusual(id, r, ...)
  if r.more == '' then return {} end
  return call('HMGET', P .. 't:' .. id, ...)
end
local function has_unusual(id, r)
  if r.more == '' then change(id, r, { more = '+' }) end
end

-- A task as far as its next change depends on it (see lifecycle.hpp): its record, crashes, suspect,
-- asked to stop (each nil where it is not so), and unless it runs whether it waits for others and
-- whether another unfinished task has its key (1, 0). `waits`: where the first is known.
local function row_of(id, r, waits)
  local more = unusual(id, r, 'y', 'u', 'x', 'uk')
  local row = { known[id], more[1] or false, more[2] or false, more[3] or false }
  if r.state == RUNNING then return row end
  if waits == nil then waits = call('EXISTS', P .. 'waits:' .. id) == 1 end
  local holder = more[4] and call('HGET', P .. 'unique', more[4])
  push(row, waits and 1 or 0, holder and holder ~= id and 1 or 0)
  return row
end

-- Tasks that were ready when they were inserted, and are nothing unusual, are in a list of their
-- lane: '=' and an order, then id and body of each that was inserted with it (no body if that is
-- long or many wait). Taking the first ones off a list costs little. One that leaves that state
-- leaves a trace here: an entry counts only for a task that nobody ever claimed, that may run at
-- once, and that is as old as the entry.
local LENGTH_OF_ID = 26
local function is_marker(entry) return #entry < LENGTH_OF_ID end
local function is_fresh(r, marker)
  return r.state == PENDING and r.token == '0' and r.run_at == '0' and '=' .. r.order == marker
end
