-- Takes one request from a dead process and does something with its job, in one step, unless the
-- process has been heard of meanwhile.
--
-- ARGV    the request's id, the text that its job had, the orphan threshold in milliseconds, the
--         registry's time to live in seconds, the life that its process is known to have lost (empty:
--         age decides), and one effect.
-- Result  recovered, alive (it was heard of), changed (another one was quicker), elsewhere (a Ruby
--         process has put it back on its queue), or unknown (whether one has, because the registry
--         was lost since it was heard of: such a one is not pushed).
local id, text, threshold, ttl, life = take(), take(), take_number(), take(), take()
local effect = take_effect()
local process = process_of(id)
if (call('HGET', OURS, id) or call('HGET', JOBS, id) or '') ~= text then return 'changed' end
keep_registry(ttl)
local score = tonumber(call('ZSCORE', INDEX, id) or '0')
local beat = tonumber(call('ZSCORE', BEATS, id) or '0')
if score == 0 and beat == 0 then return 'changed' end
local proven = life ~= '' and call('HGET', LIVES, process) == life
if not proven and (is_alive(process) or math.max(score, beat) >= now - threshold) then
  return 'alive'
end
local unknown = is_from_before(id)
if unknown and effect[1] == 'push' then return 'unknown' end
if not unknown and was_taken_out(id) then
  forget(id)
  return 'elsewhere'
end
apply(effect)
forget(id)
return 'recovered'
