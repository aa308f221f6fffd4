-- Inserts all tasks or none. Refused by the server where its memory is used up.
--
-- ARGV: the tasks (see new_tasks.lua)
-- Result: {'ok', others}: of each that is not simply new and pending its place (from 0), the id that
--         it has, and its state ('' if it was there already);
--         or {'exists' | 'unknown' | 'cancelled', id}, or {'moved', name of the store that is to be
--         used instead}
local moved_to = call('HGET', P .. 'move', 'closed_to')
if moved_to then return { 'moved', moved_to } end
local list = take_tasks()
local wrong, id = check_tasks(list)
if wrong then return { wrong, id } end
local others = write_tasks(list)
flush()
announce('work')
return { 'ok', others }
