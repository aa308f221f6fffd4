-- Removes a task that is held or finished, with all that belongs to it.
local function remove_task(id, state)
  local t = call('HMGET', P .. 't:' .. id, 'l', 'uk')
  if t[1] then count(t[1], state, -1) end
  if state == HELD then
    if t[2] and call('HGET', P .. 'unique', t[2]) == id then call('HDEL', P .. 'unique', t[2]) end
    drop('on_hold', id)
  else
    drop('done:' .. state, id)
  end
  for _, on in ipairs(call('SMEMBERS', P .. 'waits:' .. id)) do
    call('SREM', P .. 'after:' .. on, id)
  end
  call('UNLINK', P .. 't:' .. id, P .. 'p:' .. id, P .. 'h:' .. id, P .. 'log:' .. id,
    P .. 'e:' .. id, P .. 'after:' .. id, P .. 'waits:' .. id, P .. 'x:' .. id, P .. 'l:' .. id,
    P .. 'o:' .. id, P .. 'm:' .. id)
  drop('all', id)
end
