create table timingwheel_task (
	id varchar(64) not null primary key,
	name varbinary(255) not null,
	task_key varbinary(512),
	pending_key varbinary(512),
	payload character large object not null,
	due_at bigint not null,
	next_at bigint,
	status smallint not null
);

create table timingwheel_task_version (
	version integer not null primary key
);

insert into timingwheel_task_version (version) values (3);
