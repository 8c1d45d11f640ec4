create table timingwheel_task (
	id varchar(64) collate "C" not null primary key,
	name varchar(255) collate "C" not null,
	task_key varchar(512) collate "C",
	pending_key varchar(512) collate "C",
	payload text not null,
	due_at bigint not null,
	next_at bigint,
	status smallint not null
);

create table timingwheel_task_version (
	version integer not null primary key
);

insert into timingwheel_task_version (version) values (3);
