-- MySQL has no "add column if not exists".
set @timingwheel_change = if(exists(
	select 1 from information_schema.columns where column_name = 'suspect' and concat(table_schema, '.', table_name)
		= if(locate('.', 'timingwheel_task') > 0, 'timingwheel_task', concat(database(), '.', 'timingwheel_task'))),
	'do 0',
	'alter table timingwheel_task
		add column suspect smallint not null default 0,
		add column alone smallint not null default 0,
		add column traceparent varchar(55) character set ascii,
		add key timingwheel_task_claim (name, suspect, next_at),
		add key timingwheel_task_dead (name, died_at, id)');

prepare timingwheel_change from @timingwheel_change;

execute timingwheel_change;

deallocate prepare timingwheel_change;

create table if not exists timingwheel_task_version (
	version integer not null primary key
) engine = InnoDB;

insert ignore into timingwheel_task_version (version) values (2);
