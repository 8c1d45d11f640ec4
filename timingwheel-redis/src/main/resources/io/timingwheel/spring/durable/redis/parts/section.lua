-- needs: model
-- The first bytes of the members of INDEX with this name and letter: length of the name in
-- one byte, name, letter.
local function section(name, letter)
  return string.char(#name) .. name .. letter
end
