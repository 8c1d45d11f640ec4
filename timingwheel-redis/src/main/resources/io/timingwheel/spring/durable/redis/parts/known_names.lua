-- needs: section, entry, precedes
-- Calls visit(i, first) for each name in ARGV that has an entry in INDEX with this letter or a later one; first is the
-- first such entry. The first name is ARGV[from], each further one follows after width arguments, and they have the
-- order of INDEX. Makes at most two look-ups for each name in INDEX, and one more.
local function for_each_known_name(from, width, letter, visit)
  local i = from
  while i <= #ARGV do
    local first = call('ZRANGEBYLEX', INDEX, '[' .. section(ARGV[i], letter), '+', 'LIMIT', '0', '1')[1]
    if not first then
      return
    end
    local known = sub(first, 1, 1 + string.byte(first))
    while i <= #ARGV and precedes(section(ARGV[i], ''), known) do
      i = i + width
    end
    if i <= #ARGV and section(ARGV[i], '') == known and string.byte(first, #known + 1) >= string.byte(letter) then
      visit(i, first)
      i = i + width
    end
  end
end

-- The first entries of a name with these letters, which have the order of INDEX: entry by letter. The argument first is
-- the first member with the first letter or a later one.
local function first_entries(name, letters, first)
  local found = {}
  for _, letter in ipairs(letters) do
    if first and string.byte(first, #name + 2) < string.byte(letter) then
      first = call('ZRANGEBYLEX', INDEX, '[' .. section(name, letter), '(' .. section(name, '\255'), 'LIMIT', '0',
          '1')[1]
    end
    if first and sub(first, #name + 2, #name + 2) == letter then
      found[letter] = entry(name, first)
    end
  end
  return found
end
