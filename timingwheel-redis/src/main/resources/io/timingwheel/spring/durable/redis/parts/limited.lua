-- Limits a time to 9e15. A double holds all whole numbers up to this limit.
local function limited(at)
  return math.min(at, 9e15)
end
