-- What nodes report about themselves, in the partition of the node.
-- Its values of MessagePack: activity, tasks in flight, time
-- ARGV: clock, milliseconds after which a report is forgotten, then to report: node, activity, tasks in flight
-- Returns, for each node: node, activity, tasks in flight, age
if ARGV[4] == 'ENDED' then
  call('HDEL', NODES, ARGV[3])
elseif ARGV[4] then
  call('HSET', NODES, ARGV[3], cmsgpack.pack(ARGV[4], tonumber(ARGV[5]), now))
end
local reply, reports = {}, call('HGETALL', NODES)
for i = 1, #reports, 2 do
  local activity, in_flight, at = cmsgpack.unpack(reports[i + 1])
  local age = math.max(0, now - at)
  if age > tonumber(ARGV[2]) then
    call('HDEL', NODES, reports[i])
  else
    append(reply, reports[i], activity, in_flight)
    append(reply, age)
  end
end
return reply
