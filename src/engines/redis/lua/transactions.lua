-- What a transaction has beside its task; the keys are described in keys.hpp.
local function progress(id) call('HSET', P .. 'x:' .. id, 'p', now_text) end
local function move_transaction(id, from, to, reason, token)
  call('HSET', P .. 'x:' .. id, 's', to, 'y', reason, 'n', now_text, 'f', '0', 'e', '')
  call('RPUSH', P .. 'm:' .. id, table.concat({ from, to, token, now_text, reason }, '\31'))
  progress(id)
end
