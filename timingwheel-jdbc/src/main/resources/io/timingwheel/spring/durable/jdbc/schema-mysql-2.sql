alter table timingwheel_task
	add column suspect smallint not null default 0,
	add column alone smallint not null default 0,
	add key timingwheel_task_claim (name, suspect, next_at);

create table if not exists timingwheel_task_version (
	version integer not null primary key
) engine = InnoDB;

insert ignore into timingwheel_task_version (version) values (2);
