create table timingwheel_task (no columns at all);
