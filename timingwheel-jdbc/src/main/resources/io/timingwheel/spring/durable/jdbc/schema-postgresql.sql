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
	id varchar(64) collate "C" not null primary key,
	name text collate "C" not null,
	task_key text collate "C",
	held_key text collate "C",
	owner varchar(255),
	schedule varchar(255),
	traceparent varchar(55),
	error text,
	payload text not null
);

create unique index if not exists timingwheel_task_held on timingwheel_task (name, held_key) where held_key is not null;

create index if not exists timingwheel_task_claim on timingwheel_task (name, queue, next_at) where next_at is not null;

create index if not exists timingwheel_task_listing on timingwheel_task (name, due_at, id) where status = 0;

create index if not exists timingwheel_task_dead on timingwheel_task (name, died_at, id) where died_at is not null;

create table if not exists timingwheel_task_name (
	name text collate "C" not null primary key,
	paused smallint default 0 not null,
	next_start bigint default 0 not null,
	cancelled smallint default 0 not null
);

create table if not exists timingwheel_task_node (
	id varchar(64) collate "C" not null primary key,
	claiming smallint not null,
	in_flight integer not null,
	reported_at bigint not null
);

create table if not exists timingwheel_task_version (
	version integer not null primary key
);

insert into timingwheel_task_version (version) values (1) on conflict do nothing;
