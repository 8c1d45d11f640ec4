alter table timingwheel_task add column if not exists suspect smallint default 0 not null;

alter table timingwheel_task add column if not exists alone smallint default 0 not null;

alter table timingwheel_task add column if not exists traceparent varchar(55);

create index if not exists timingwheel_task_claim on timingwheel_task (name, suspect, next_at);

create index if not exists timingwheel_task_dead on timingwheel_task (name, died_at, id);

create table if not exists timingwheel_task_version (
	version integer not null primary key
);

merge into timingwheel_task_version (version) key (version) values (2);
