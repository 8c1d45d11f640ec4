-- needs: model, clock
-- State and at of a task with this due time: leased if the task is due within look_ahead, else scheduled.
local function placed(due, look_ahead, lease)
  if tonumber(look_ahead) >= 0 and due <= now + look_ahead then
    return LEASED, math.max(due, now) + lease
  end
  return SCHEDULED, due
end
