-- needs: model
-- The letters of the members of pending tasks with due times.
local PENDING_LETTERS = { SCHEDULED, WAITING, 'S', 'W' }
