-- The data model. A script works on one partition, which has three keys in one slot of a Cluster:
--   TASKS    hash        id -> packed task as it was stored (see LAYOUT); head_field -> what has changed since (see
--                        HEAD), so that no change writes the payload again
--   INDEX    sorted set  one member for each task, two while the task is leased (see member); all scores are 0,
--                        so that Redis orders the members by their bytes
--   HOLDERS  hash        name and key -> id of the pending task that has the key (see holder_field);
--                        name and key of a schedule -> id of its task in any state (see schedule_field), or
--                        CANCELLED if a declared schedule was cancelled since it was last stored
-- Each call names all three keys. While a Cluster moves the slot, the server therefore
-- refuses the whole script.
--
-- The fields of a task:
--   state       SCHEDULED, LEASED, RUNNING or DEAD; a scheduled or leased task is pending
--   flags       KEYED, FAILED, UNTOUCHED, SUSPECT, ALONE, TRACED, RECURRING, ENDED
--   fence       raised by each claim, move and requeue
--   at          the time in INDEX: when a scheduled task is due, when the lease of a leased or running task ends,
--               when a dead task died
--   due         the due time
--   attempt     the number of this attempt, from 1
--   deliveries  how often the task has begun
--   lost        how many of the deliveries were lost with their node
--   error       the text of the last failure if the task has FAILED; in a task that has not begun: the time of the
--               first call, if a call had a longest wait
--   name, key, trace, payload
--   schedule    of a recurring task: the text of its schedule
--   scheduled   of a recurring task: the time of its run by the schedule; later than the due time if the run is an
--               additional one, or if a running task has got another schedule
-- Times are milliseconds since the epoch.
local call, sub, packed_as, unpacked_as = redis.call, string.sub, struct.pack, struct.unpack

local TASKS, INDEX, HOLDERS = KEYS[1], KEYS[2], KEYS[3]

local SCHEDULED, LEASED, RUNNING, DEAD = 's', 'l', 'r', 'd' -- states, and letters in INDEX
local WAITING = 'w' -- the letter of the second member of a leased task, which has the due time

-- The flags of a task:
local KEYED = 1 -- has a key; not set for a recurring task, which keeps the key of its schedule in all states
local FAILED = 2 -- has an error
local UNTOUCHED = 4 -- was leased by its enqueue, and has not changed since
local SUSPECT = 8 -- has lost its last delivery, and waits to be tried alone; has capital letters in INDEX
local ALONE = 16 -- was a suspect when it began
local TRACED = 32 -- has the trace of its caller
local RECURRING = 64 -- has a schedule
local ENDED = 128 -- is the last run of a schedule that was cancelled

local DECLARED_KEY = 'recurring' -- the key of the schedules that applications declare
local CANCELLED = 'cancelled' -- no id of a task

local DONE, SUPERSEDED, REFUSED = 0, 1, 2 -- replies
