create table if not exists timingwheel_task_limit (
	name varbinary(255) not null primary key,
	paused smallint not null default 0,
	next_start bigint not null default 0,
	cancelled smallint not null default 0
) engine = InnoDB;

create table if not exists timingwheel_task_node (
	id varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
	claiming smallint not null,
	in_flight integer not null,
	reported_at bigint not null
) engine = InnoDB;

alter table timingwheel_task add column if not exists first_at bigint;

drop index if exists timingwheel_task_next_at on timingwheel_task;

alter table timingwheel_task
	add column if not exists schedule varchar(255) character set utf8mb4 collate utf8mb4_bin,
	add column if not exists scheduled_at bigint,
	add column if not exists schedule_key varbinary(512),
	add unique key if not exists timingwheel_task_schedule (name, schedule_key);

insert ignore into timingwheel_task_version (version) values (3);
