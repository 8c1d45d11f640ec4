create table if not exists timingwheel_task_version (
	version integer not null primary key
);

insert into timingwheel_task_version (version) values (2) on conflict do nothing;
