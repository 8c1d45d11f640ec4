-- needs: model
-- any state -> deleted, for tests
-- KEYS[4]: what the keys of places begin with; KEYS[5]: hash with the limited names
-- ARGV: offset
-- Returns: 1
for _, name in ipairs(call('HKEYS', KEYS[5])) do
  call('DEL', KEYS[4] .. name)
end
call('DEL', TASKS, INDEX, HOLDERS, KEYS[5])
return 1
