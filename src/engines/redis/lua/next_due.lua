-- When the earliest task that a claim could take becomes due.
--
-- ARGV: number of queues, these (none: all), number of kinds, these
-- Result: '' if there is none, '0' for now, or a time
local queues, kinds = {}, {}
for i = 1, take_number() do queues[i] = take() end
for i = 1, take_number() do kinds[i] = take() end
local earliest
local limited = read_limits()
for _, each in ipairs(open_lanes(queues, kinds)) do
  local lane, due = each[2], nil
  local not_before = 0
  if limited and room_for(lane, 1) == 0 then not_before = room_at(lane) end
  if not_before then
    if call('EXISTS', P .. 'fresh:' .. lane, P .. 'ready:' .. lane, P .. 'alone:' .. lane) > 0 then
      due = not_before
    else
      local first = call('ZRANGE', P .. 'later:' .. lane, 0, 0, 'WITHSCORES')
      due = first[2] and math.max(tonumber(first[2]), not_before)
    end
  end
  if due == 0 then return '0' end
  if due and (not earliest or due < earliest) then earliest = due end
end
return earliest and digits(earliest) or ''
