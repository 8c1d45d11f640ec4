-- The field for the microseconds that were given back of the starts of a name. No name begins with this byte.
local function given_back_field(name)
  return '\255' .. name
end

-- The next start of a name, and the sum of what was given back, in microseconds.
local function next_start_of(limits, name)
  local values = redis.call('HMGET', limits, name, given_back_field(name))
  return tonumber(values[1] or 0), tonumber(values[2] or 0)
end
