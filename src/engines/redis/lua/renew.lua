-- Extends leases.
--
-- ARGV: length, number of leases; of each: id, token
-- Result: of each 0 (kept), 1 (kept, and somebody wants the work to stop) or 2 (lost)
local length, answers, ids, tokens, kept = take_number(), {}, {}, {}, {}
for i = 1, take_number() do
  ids[i], tokens[i] = take(), take()
end
for i, text in ipairs(read_records(ids, 1, #ids)) do
  local r, token = text and parse(text), tokens[i]
  if not r or r.state ~= RUNNING or r.token ~= token then
    answers[i] = 2
  else
    local of_worker = kept[r.worker] or {}
    kept[r.worker] = of_worker
    of_worker[#of_worker + 1] = ids[i]
    answers[i] = unusual(ids[i], r, 'x')[1] and 1 or 0
  end
end
for worker, of_worker in pairs(kept) do renew(worker, of_worker, digits(steady + length)) end
return answers
