alter table timingwheel_task
	add column if not exists suspect smallint not null default 0,
	add column if not exists alone smallint not null default 0,
	add column if not exists traceparent varchar(55) character set ascii,
	add key if not exists timingwheel_task_claim (name, suspect, next_at),
	add key if not exists timingwheel_task_dead (name, died_at, id);

create table if not exists timingwheel_task_version (
	version integer not null primary key
) engine = InnoDB;

insert ignore into timingwheel_task_version (version) values (2);
