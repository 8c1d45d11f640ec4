-- needs: entries, layout, key_of
-- The key of a packed task as callers see it. The head of a task changes neither the key nor whether there is one.
local function packed_key(packed)
  local _, key = unpacked_as(FROM_NAME, packed, NAME_AT)
  return key_of({ flags = string.byte(packed, 2), key = key })
end

-- How many running tasks of a name each key has, and how many running tasks of the name have keys. Counts only the
-- entries for which counts(entry, letter) is true. A suspect that a node has leased counts as running. There may be many
-- running tasks, so this function unpacks no more of them than their keys.
local function busy_keys(name, counts)
  local keys, sum = {}, 0
  for _, letter in ipairs({ RUNNING, string.upper(LEASED), string.upper(RUNNING) }) do
    local ids = {}
    for _, one in ipairs(entries(name, letter, 10000)) do
      if counts(one, letter) then
        ids[#ids + 1] = one.id
      end
    end
    for from = 1, #ids, 500 do -- unpack has a limit of some thousand values
      for _, packed in ipairs(call('HMGET', TASKS, unpack(ids, from, math.min(#ids, from + 499)))) do
        local key = packed and packed_key(packed)
        if key then
          keys[key] = (keys[key] or 0) + 1
          sum = sum + 1
        end
      end
    end
  end
  return keys, sum
end
