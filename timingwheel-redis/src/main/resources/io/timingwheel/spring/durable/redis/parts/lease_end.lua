-- needs: clock
-- When a lease ends: after a duration from now or, after '=', at a time.
local function lease_end(lease)
  return string.sub(lease, 1, 1) == '=' and tonumber(string.sub(lease, 2)) or now + lease
end
