create table if not exists timingwheel_task_limit (
	name varbinary(255) not null primary key,
	paused smallint not null default 0,
	next_start bigint not null default 0,
	cancelled smallint not null default 0
) engine = InnoDB;

create table if not exists timingwheel_task_node (
	id varchar(64) character set utf8mb4 collate utf8mb4_bin not null primary key,
	claiming smallint not null,
	in_flight integer not null,
	reported_at bigint not null
) engine = InnoDB;

-- MySQL has no "add column if not exists".
set @timingwheel_change = if(exists(
	select 1 from information_schema.columns where column_name = 'first_at' and concat(table_schema, '.', table_name)
		= if(locate('.', 'timingwheel_task') > 0, 'timingwheel_task', concat(database(), '.', 'timingwheel_task'))),
	'do 0',
	'alter table timingwheel_task add column first_at bigint');

prepare timingwheel_change from @timingwheel_change;

execute timingwheel_change;

deallocate prepare timingwheel_change;

-- MySQL has no "drop index if exists".
set @timingwheel_change = if(exists(
	select 1 from information_schema.statistics where index_name = 'timingwheel_task_next_at' and concat(table_schema, '.', table_name)
		= if(locate('.', 'timingwheel_task') > 0, 'timingwheel_task', concat(database(), '.', 'timingwheel_task'))),
	'drop index timingwheel_task_next_at on timingwheel_task',
	'do 0');

prepare timingwheel_change from @timingwheel_change;

execute timingwheel_change;

deallocate prepare timingwheel_change;

-- MySQL has no "add column if not exists".
set @timingwheel_change = if(exists(
	select 1 from information_schema.columns where column_name = 'schedule' and concat(table_schema, '.', table_name)
		= if(locate('.', 'timingwheel_task') > 0, 'timingwheel_task', concat(database(), '.', 'timingwheel_task'))),
	'do 0',
	'alter table timingwheel_task
		add column schedule varchar(255) character set utf8mb4 collate utf8mb4_bin,
		add column scheduled_at bigint,
		add column schedule_key varbinary(512),
		add unique key timingwheel_task_schedule (name, schedule_key)');

prepare timingwheel_change from @timingwheel_change;

execute timingwheel_change;

deallocate prepare timingwheel_change;

insert ignore into timingwheel_task_version (version) values (3);
