-- Workers that are gone are listed for people until some days later.
local function has_gone(worker)
  call('ZADD', P .. 'gone', digits(now), worker)
  for _, old in ipairs(call('ZRANGEBYSCORE', P .. 'gone', '-inf', '(' .. digits(now - 604800000),
    'LIMIT', 0, 100)) do
    call('UNLINK', P .. 'w:' .. old)
    call('ZREM', P .. 'workers', old)
    call('ZREM', P .. 'gone', old)
    if call('EXISTS', P .. 'held:' .. old) == 0 then call('ZREM', P .. 'holders', old) end
  end
end
