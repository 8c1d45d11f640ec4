-- ARGV[1] is the offset of the clock in milliseconds, or, in tests with virtual time, '=' and the time itself.
local clock = redis.call('TIME')
local micros = clock[1] * 1000000 + clock[2]

local now = string.sub(ARGV[1], 1, 1) == '=' and tonumber(string.sub(ARGV[1], 2))
    or math.floor(micros / 1000) + ARGV[1]
