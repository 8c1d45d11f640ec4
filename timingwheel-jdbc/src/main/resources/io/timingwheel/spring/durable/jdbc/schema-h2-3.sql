create table if not exists timingwheel_task_limit (
	name varbinary(255) not null primary key,
	paused smallint default 0 not null,
	next_start bigint default 0 not null,
	cancelled smallint default 0 not null
);

create table if not exists timingwheel_task_node (
	id varchar(64) not null primary key,
	claiming smallint not null,
	in_flight integer not null,
	reported_at bigint not null
);

alter table timingwheel_task add column if not exists first_at bigint;

drop index if exists timingwheel_task_next_at;

create index if not exists timingwheel_task_pending on timingwheel_task (name, status, due_at, id);

drop index if exists timingwheel_task_name;

alter table timingwheel_task add column if not exists schedule varchar(255);

alter table timingwheel_task add column if not exists scheduled_at bigint;

alter table timingwheel_task add column if not exists schedule_key varbinary(512);

create unique index if not exists timingwheel_task_schedule on timingwheel_task (name, schedule_key);

merge into timingwheel_task_version (version) key (version) values (3);
