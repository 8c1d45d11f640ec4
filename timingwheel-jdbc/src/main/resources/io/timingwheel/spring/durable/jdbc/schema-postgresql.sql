create table if not exists timingwheel_task (
	id varchar(64) collate "C" not null primary key,
	name varchar(255) collate "C" not null,
	task_key varchar(512) collate "C",
	pending_key varchar(512) collate "C",
	payload text not null,
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

create unique index if not exists timingwheel_task_pending_key on timingwheel_task (name, pending_key)
	where pending_key is not null;
