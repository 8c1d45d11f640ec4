-- needs: clock
-- Raises the fence at least to the current time. So no fence comes twice, even after a
-- failover that lost the last writes.
local function raise_fence(task)
  task.fence = math.max(task.fence + 1, micros)
end
