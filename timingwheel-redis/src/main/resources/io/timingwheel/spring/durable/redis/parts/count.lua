-- needs: section
-- The number of entries in a section, or of those up to a time.
local function count(name, letter, up_to)
  local start = section(name, letter)
  local last = start .. (up_to and packed_as('>I8', up_to + 1) or '\255')
  return call('ZLEXCOUNT', INDEX, '[' .. start, '(' .. last)
end
