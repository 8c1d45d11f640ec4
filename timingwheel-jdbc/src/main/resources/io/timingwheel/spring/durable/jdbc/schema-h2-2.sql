create table if not exists timingwheel_task_version (
	version integer not null primary key
);

merge into timingwheel_task_version (version) key (version) values (2);
