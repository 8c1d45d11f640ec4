-- Tries each command of a node on a key that nobody uses, so that a user without the right to run it is found at the
-- start and not with the first task.
-- KEYS: those of the partition, then the key that nobody uses
-- ARGV: offset
-- Returns: the errors, none if all commands have run
local KEY = KEYS[4]
local errors = {}

local function try(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then
    errors[#errors + 1] = command .. ': ' .. reply.err
  end
end

try('TIME')
try('HSET', KEY, 'field', '')
try('HSETNX', KEY, 'field', '')
try('HGET', KEY, 'field')
try('HMGET', KEY, 'field')
try('HKEYS', KEY)
try('HGETALL', KEY)
try('HDEL', KEY, 'field')
try('ZADD', KEY, 0, 'member')
try('ZCARD', KEY)
try('ZSCORE', KEY, 'member')
try('ZLEXCOUNT', KEY, '-', '+')
try('ZRANGEBYLEX', KEY, '-', '+')
try('ZREVRANGEBYLEX', KEY, '+', '-')
try('ZREMRANGEBYSCORE', KEY, 1, 1)
try('ZREM', KEY, 'member')
try('SADD', KEY, 'member')
try('SMEMBERS', KEY)
try('SREM', KEY, 'member')
try('EXISTS', KEY)
try('DEL', KEY)
return errors
