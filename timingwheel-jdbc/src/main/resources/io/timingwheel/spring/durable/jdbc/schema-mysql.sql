create table if not exists timingwheel_task (
	due_at bigint not null,
	next_at bigint,
	fence bigint not null,
	created_at bigint not null,
	first_at bigint,
	scheduled_at bigint,
	died_at bigint,
	attempt integer not null,
	deliveries integer not null,
	lost integer not null,
	status smallint not null,
	queue smallint generated always as (case when status = 1 then 1 when lost > 0 then 2 else 0 end) stored,
	id varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
	name varbinary(255) not null,
	task_key varbinary(512),
	held_key varbinary(513),
	owner varchar(255) character set utf8mb4,
	schedule varchar(255) character set utf8mb4 collate utf8mb4_bin,
	traceparent varchar(55) character set ascii,
	error varchar(2000) character set utf8mb4,
	payload longtext character set utf8mb4 not null,
	unique key timingwheel_task_held (held_key, name),
	key timingwheel_task_claim (name, queue, next_at),
	key timingwheel_task_listing (name, status, due_at, id),
	key timingwheel_task_dead (name, died_at, id)
) engine = InnoDB;

-- No task: this row stands between the tasks without keys and the others in the unique index. Whoever stores a task
-- with a key locks the gaps beside the key, and others can go on to store tasks without keys.
insert ignore into timingwheel_task (due_at, fence, created_at, attempt, deliveries, lost, status, id, name, held_key, payload)
	values (0, 0, 0, 0, 0, 0, 3, '', '', '', '');

create table if not exists timingwheel_task_name (
	name varbinary(255) not null primary key,
	paused smallint default 0 not null,
	next_start bigint default 0 not null,
	cancelled smallint default 0 not null
) engine = InnoDB;

create table if not exists timingwheel_task_node (
	id varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
	claiming smallint not null,
	in_flight integer not null,
	reported_at bigint not null
) engine = InnoDB;

create table if not exists timingwheel_task_version (
	version integer not null primary key
) engine = InnoDB;

insert ignore into timingwheel_task_version (version) values (1);
