-- needs: model, clock, layout, has, member, due_time, placed
-- new task without a key and without a longest wait -> scheduled, or leased if due within the look-ahead
-- The script enqueue stores the other tasks. Redis makes all functions of a script anew with each call. So this script
-- has few, and a task is no table in it. Both scripts store the same.
-- ARGV: offset, then for each task, of which there are at most 500: id, name, payload, trace or nothing, due time or
-- delay, '1' if a due time, look-ahead (negative: do not lease), lease
-- Returns, for each task: outcome, id, fence, due, now, 1 if leased by the caller
local INSERTED = 0
local WIDTH = 8

local ids, fields, members, reply = {}, {}, {}, {}
for i = 2, #ARGV, WIDTH do
  ids[#ids + 1] = ARGV[i]
end
local there = call('HMGET', TASKS, unpack(ids))
for n, id in ipairs(ids) do
  local fence, due, leased
  if there[n] then -- the call was sent twice
    local state, flags, at
    state, flags, fence, at, due = unpacked_as(BEGINNING, call('HGET', TASKS, head_field(id)) or there[n])
    leased = has({ flags = flags }, UNTOUCHED)
  else
    local i = 2 + (n - 1) * WIDTH
    local name, text, trace, state, at = ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
    fence, due = micros, due_time(ARGV[i + 4], ARGV[i + 5])
    state, at = placed(due, ARGV[i + 6], ARGV[i + 7])
    leased = state == LEASED
    if leased then
      members[#members + 1] = '0'
      members[#members + 1] = member(name, WAITING, due, id)
    end
    members[#members + 1] = '0'
    members[#members + 1] = member(name, state, at, id)
    fields[#fields + 1] = id
    fields[#fields + 1] = packed_as(LAYOUT, state, (trace ~= '' and TRACED or 0) + (leased and UNTOUCHED or 0), fence,
        at, due, 1, 0, 0, #name, name, 0, '', 0, '') .. (trace ~= '' and packed_as('Bc0', #trace, trace) or '') .. text
  end
  local size = #reply
  reply[size + 1], reply[size + 2], reply[size + 3] = INSERTED, id, fence
  reply[size + 4], reply[size + 5], reply[size + 6] = due, now, leased and 1 or 0
end
if #fields > 0 then
  call('HSET', TASKS, unpack(fields))
  call('ZADD', INDEX, unpack(members))
end
return reply
