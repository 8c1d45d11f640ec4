-- Returns: the time
return now
