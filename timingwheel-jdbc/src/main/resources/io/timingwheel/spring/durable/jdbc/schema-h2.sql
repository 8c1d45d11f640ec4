create table if not exists timingwheel_task (
	id varchar(64) not null primary key,
	name varbinary(255) not null,
	task_key varbinary(512),
	pending_key varbinary(512),
	payload character large object not null,
	due_at bigint not null,
	next_at bigint,
	status smallint not null,
	owner varchar(255),
	fence bigint not null,
	attempt integer not null,
	deliveries integer not null,
	lost_deliveries integer not null,
	error varchar(2000),
	created_at bigint not null,
	died_at bigint
);

create unique index if not exists timingwheel_task_pending_key on timingwheel_task (name, pending_key);
