-- needs: section, entry
-- The first entries of a section, or the last ones if from_the_end. With a bound, only the entries after the bound, or
-- before the bound if from_the_end. A bound is the part of a member after its section.
local function entries(name, letter, limit, from_the_end, bound)
  local start = section(name, letter)
  local first, last = '[' .. start, '(' .. start .. '\255'
  if bound and from_the_end then
    last = '(' .. start .. bound
  elseif bound then
    first = '(' .. start .. bound
  end
  local members = from_the_end and call('ZREVRANGEBYLEX', INDEX, last, first, 'LIMIT', '0', limit)
      or call('ZRANGEBYLEX', INDEX, first, last, 'LIMIT', '0', limit)
  for i, bytes in ipairs(members) do
    members[i] = entry(name, bytes)
  end
  return members
end
