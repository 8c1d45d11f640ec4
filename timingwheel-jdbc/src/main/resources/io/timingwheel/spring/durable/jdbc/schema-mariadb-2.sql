create table if not exists timingwheel_task_version (
	version integer not null primary key
) engine = InnoDB;

insert ignore into timingwheel_task_version (version) values (2);
