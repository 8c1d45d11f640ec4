create table if not exists timingwheel_task_limit (
	name varchar(255) collate "C" not null primary key,
	paused smallint default 0 not null,
	next_start bigint default 0 not null
);

drop index if exists timingwheel_task_next_at;

insert into timingwheel_task_version (version) values (3) on conflict do nothing;
