-- needs: writes, layout
-- Deletes dead tasks by their entries, without reading them: a dead task has one entry and no key.
local function delete_dead(list)
  for _, one in ipairs(list) do
    removed[#removed + 1] = one.member
    deleted[#deleted + 1] = one.id
    deleted[#deleted + 1] = head_field(one.id)
  end
end
