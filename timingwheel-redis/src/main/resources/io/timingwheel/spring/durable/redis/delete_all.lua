-- any state -> deleted, for tests
-- ARGV: offset
-- Returns: 1
call('DEL', TASKS, INDEX, HOLDERS)
return 1
