-- Whether a text comes before another by its bytes, as in INDEX. The operator < depends on the locale of Redis.
local function precedes(one, other)
  for i = 1, math.min(#one, #other) do
    local byte, other_byte = string.byte(one, i), string.byte(other, i)
    if byte ~= other_byte then
      return byte < other_byte
    end
  end
  return #one < #other
end
