-- Buckets count in parts of their rate: where another one holds from now on, they begin anew.
local function forget_bucket(place)
  call('HDEL', P .. 'buckets', place)
  call('ZREM', P .. 'buckets_full', place)
end
local function forget_buckets(place)
  local scope, name = string.match(place, '^(%d\31)(.*)$')
  if name ~= '*' then return forget_bucket(place) end
  for _, other in ipairs(call('HKEYS', P .. 'buckets')) do
    if string.sub(other, 1, 2) == scope and call('HEXISTS', P .. 'limits', other) == 0 then
      forget_bucket(other)
    end
  end
end
