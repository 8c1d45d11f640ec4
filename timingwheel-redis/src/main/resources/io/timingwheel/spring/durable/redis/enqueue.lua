-- needs: model, clock, load_arguments, holder_field, find_pending, delete, limited, due_time, placed, insert, additions
-- new task -> scheduled, or leased if due within the look-ahead; the pending task that it replaces -> deleted
-- ARGV: offset, then for each task: id, name, '1' if it has a key, key, payload, trace or nothing, due time or
-- delay, '1' if a due time, what to do if the key is pending, longest wait or nothing, look-ahead (negative: do not
-- lease), lease
-- Returns, for each task: outcome, id, fence, due, now, 1 if leased by the caller
local INSERTED, REPLACED, PENDING = 0, 1, 2
local WIDTH = 12

local function enqueue(i)
  local same = read[ARGV[i]]
  if same then -- the call was sent twice
    return INSERTED, same, has(same, UNTOUCHED)
  end
  local keyed, trace, if_pending, max_wait = ARGV[i + 2] == '1', ARGV[i + 5], ARGV[i + 8], tonumber(ARGV[i + 9])
  local task = { id = ARGV[i], flags = (keyed and KEYED or 0) + (trace ~= '' and TRACED or 0), fence = micros,
    attempt = 1, deliveries = 0, lost = 0, name = ARGV[i + 1], key = ARGV[i + 3], error = '', packed = ARGV[i + 4],
    tail = 1 }
  if trace ~= '' then
    task.trace = trace
  end
  local outcome, first = INSERTED, max_wait and now
  local field = keyed and holder_field(task)
  local other = field and find_pending('key', field)
  if other then
    if if_pending ~= 'REPLACE' and if_pending ~= 'UPDATE' then
      return PENDING, other, false
    end
    outcome = REPLACED
    -- The time of the first call since the other task last began, if a call had a longest wait.
    first = other.deliveries == 0 and not has(other, FAILED) and tonumber(other.error) or first
    delete(other)
  end
  task.due = due_time(ARGV[i + 6], ARGV[i + 7])
  if other and if_pending == 'UPDATE' then
    task.due = other.due
  elseif max_wait then
    task.due = math.min(task.due, limited(first + max_wait))
  end
  -- A task that has not begun has no error. Older releases leave the text as it is.
  task.error = first and string.format('%.0f', first) or ''
  task.state, task.at = placed(task.due, ARGV[i + 10], ARGV[i + 11])
  local leased = task.state == LEASED
  if leased then
    task.flags = task.flags + UNTOUCHED
  end
  insert(task)
  if field then
    holders[field] = task.id
  end
  return outcome, task, leased
end

load_arguments(2, WIDTH)
local reply = {}
for i = 2, #ARGV, WIDTH do
  local outcome, task, leased = enqueue(i)
  reply[#reply + 1] = outcome
  reply[#reply + 1] = task.id
  reply[#reply + 1] = task.fence
  reply[#reply + 1] = task.due
  reply[#reply + 1] = now
  reply[#reply + 1] = leased and 1 or 0
end
-- The additions come first. A full Redis thus refuses the first write, and the task that would be replaced stays.
write_additions()
write_deletions()
return reply
