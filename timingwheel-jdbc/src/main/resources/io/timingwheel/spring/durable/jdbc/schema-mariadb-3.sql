create table if not exists timingwheel_task_limit (
	name varbinary(255) not null primary key,
	paused smallint not null default 0,
	next_start bigint not null default 0
) engine = InnoDB;

alter table timingwheel_task add column if not exists first_at bigint;

drop index if exists timingwheel_task_next_at on timingwheel_task;

insert ignore into timingwheel_task_version (version) values (3);
