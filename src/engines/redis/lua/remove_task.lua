-- Removes a task that is held or finished, with all that belongs to it.
local function remove_task(id, state)
  local r = task_of(id)
  if r then count(r.lane, state, -1) end
  if state == HELD then
    local key = r and unusual(id, r, 'uk')[1]
    if key and call('HGET', P .. 'unique', key) == id then call('HDEL', P .. 'unique', key) end
    drop('on_hold', id)
  elseif state ~= COMPLETED then
    drop('done:' .. state, id)
  end
  for _, on in ipairs(call('SMEMBERS', P .. 'waits:' .. id)) do
    call('SREM', P .. 'after:' .. on, id)
  end
  call('HDEL', P .. 'tasks', id)
  call('UNLINK', P .. 't:' .. id, P .. 'p:' .. id, P .. 'h:' .. id, P .. 'log:' .. id,
    P .. 'e:' .. id, P .. 'after:' .. id, P .. 'waits:' .. id, P .. 'x:' .. id, P .. 'l:' .. id,
    P .. 'o:' .. id, P .. 'm:' .. id)
  drop('all', id)
end
