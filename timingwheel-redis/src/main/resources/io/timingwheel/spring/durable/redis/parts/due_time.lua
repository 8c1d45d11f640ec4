-- needs: clock, limited
local function due_time(millis, absolute)
  return limited(absolute == '1' and tonumber(millis) or now + millis)
end
