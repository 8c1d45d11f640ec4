-- needs: model
-- What a member of INDEX says of its task: { at =, id =, member = }.
local function entry(name, bytes)
  return { at = unpacked_as('>I8', bytes, #name + 3), id = sub(bytes, #name + 11), member = bytes }
end
