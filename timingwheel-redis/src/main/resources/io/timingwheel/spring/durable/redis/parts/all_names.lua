-- needs: section
-- Calls visit(name) for each name in INDEX, until it returns false.
local function for_each_name(visit)
  local first = call('ZRANGEBYLEX', INDEX, '-', '+', 'LIMIT', '0', '1')[1]
  while first do
    local name = sub(first, 2, 1 + string.byte(first))
    if visit(name) == false then
      return
    end
    first = call('ZRANGEBYLEX', INDEX, '(' .. section(name, '\255'), '+', 'LIMIT', '0', '1')[1]
  end
end
