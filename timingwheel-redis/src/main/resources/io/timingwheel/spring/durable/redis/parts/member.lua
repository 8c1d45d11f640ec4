-- needs: model
-- A member of INDEX: section, time in eight bytes, id. Within a section the members are
-- therefore ordered by time.
local function member(name, letter, at, id)
  return packed_as('>Bc0c1I8', #name, name, letter, at) .. id
end
