-- The statements of a node of the release with version 1 of the schema, as recorded on this database.

-- enqueue

with clock as (select floor(extract(epoch from statement_timestamp()) * 1000)::bigint + 0 as now),
task as (select *, least(case when absolute then 0 else now end + millis, 9000000000000000) as due_at from clock, unnest('{done, retried, buried}'::text[], '{close-order, close-order, close-order}'::text[], '{null, k1, k2}'::text[], '{[1], [1], [1]}'::text[], '{false, false, false}'::boolean[], '{0, 0, 0}'::bigint[], '{-18000000000000000, -18000000000000000, -18000000000000000}'::bigint[], '{0, 0, 0}'::bigint[], '{null, null, null}'::text[]) as many (id, name, task_key, payload, absolute, millis, look_ahead, lease, owner))
insert into timingwheel_task as t (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence,
	attempt, deliveries, lost_deliveries, created_at)
select id, name, task_key, task_key, payload, due_at,
	case when due_at <= now + look_ahead then least(greatest(due_at, now) + lease, 9000000000000000) else due_at end, 0,
	case when due_at <= now + look_ahead then owner end, 1, 1, 0, 0, now
from task
on conflict (name, pending_key) where pending_key is not null do update set
	id = excluded.id, payload = excluded.payload, due_at = excluded.due_at, next_at = excluded.next_at,
	owner = excluded.owner, fence = t.fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0,
	error = null, created_at = excluded.created_at
 returning id, fence, due_at, created_at, owner is not null as leased;

-- enqueue, leased

with clock as (select floor(extract(epoch from statement_timestamp()) * 1000)::bigint + 0 as now),
task as (select *, least(case when absolute then 0 else now end + millis, 9000000000000000) as due_at from clock, (select 'leased'::text as id, 'close-order'::text as name, 'k4'::text as task_key, '[1]'::text as payload, false::boolean as absolute, 15000::bigint as millis, 20000::bigint as look_ahead, 60000::bigint as lease, 'a'::text as owner) as one)
insert into timingwheel_task as t (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence,
	attempt, deliveries, lost_deliveries, created_at)
select id, name, task_key, task_key, payload, due_at,
	case when due_at <= now + look_ahead then least(greatest(due_at, now) + lease, 9000000000000000) else due_at end, 0,
	case when due_at <= now + look_ahead then owner end, 1, 1, 0, 0, now
from task
on conflict (name, pending_key) where pending_key is not null do update set
	id = excluded.id, payload = excluded.payload, due_at = excluded.due_at, next_at = excluded.next_at,
	owner = excluded.owner, fence = t.fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0,
	error = null, created_at = excluded.created_at
 returning id, fence, due_at, created_at, owner is not null as leased;

-- enqueue

with clock as (select floor(extract(epoch from statement_timestamp()) * 1000)::bigint + 0 as now),
task as (select *, least(case when absolute then 0 else now end + millis, 9000000000000000) as due_at from clock, (select 'first'::text as id, 'close-order'::text as name, 'k3'::text as task_key, '[1]'::text as payload, false::boolean as absolute, 5000::bigint as millis, -18000000000000000::bigint as look_ahead, 0::bigint as lease, null::text as owner) as one)
insert into timingwheel_task as t (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence,
	attempt, deliveries, lost_deliveries, created_at)
select id, name, task_key, task_key, payload, due_at,
	case when due_at <= now + look_ahead then least(greatest(due_at, now) + lease, 9000000000000000) else due_at end, 0,
	case when due_at <= now + look_ahead then owner end, 1, 1, 0, 0, now
from task
on conflict (name, pending_key) where pending_key is not null do update set
	id = excluded.id, payload = excluded.payload, due_at = excluded.due_at, next_at = excluded.next_at,
	owner = excluded.owner, fence = t.fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0,
	error = null, created_at = excluded.created_at
 returning id, fence, due_at, created_at, owner is not null as leased;

-- enqueue, replaces

with clock as (select floor(extract(epoch from statement_timestamp()) * 1000)::bigint + 0 as now),
task as (select *, least(case when absolute then 0 else now end + millis, 9000000000000000) as due_at from clock, (select 'replaced'::text as id, 'close-order'::text as name, 'k3'::text as task_key, '[1]'::text as payload, false::boolean as absolute, 1000::bigint as millis, -18000000000000000::bigint as look_ahead, 0::bigint as lease, null::text as owner) as one)
insert into timingwheel_task as t (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence,
	attempt, deliveries, lost_deliveries, created_at)
select id, name, task_key, task_key, payload, due_at,
	case when due_at <= now + look_ahead then least(greatest(due_at, now) + lease, 9000000000000000) else due_at end, 0,
	case when due_at <= now + look_ahead then owner end, 1, 1, 0, 0, now
from task
on conflict (name, pending_key) where pending_key is not null do update set
	id = excluded.id, payload = excluded.payload, due_at = excluded.due_at, next_at = excluded.next_at,
	owner = excluded.owner, fence = t.fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0,
	error = null, created_at = excluded.created_at
 returning id, fence, due_at, created_at, owner is not null as leased;

-- claim

with clock as (select floor(extract(epoch from statement_timestamp()) * 1000)::bigint + 0 as now, 20000 as look_ahead, '{close-order}'::text[] as names),
due as (
	select id, next_at from timingwheel_task
	where next_at <= (select now + look_ahead from clock) and array_position((select names from clock), name::text) is not null
		and (owner is null or next_at <= (select now from clock))
	order by next_at limit 100 for update skip locked),
claimed as (
	update timingwheel_task t set owner = 'a', fence = t.fence + 1,
		next_at = least(greatest(t.due_at, clock.now) + 60000, 9000000000000000),
		lost_deliveries = t.lost_deliveries + case when t.status = 1 then 1 else 0 end,
		deliveries = t.deliveries + case when t.due_at <= clock.now or t.status = 1 then 1 else 0 end,
		pending_key = case when t.due_at <= clock.now or t.status = 1 then null else t.pending_key end,
		status = case when t.due_at <= clock.now then 1 else t.status end
	from due, clock where t.id = due.id
	returning due.next_at as found_at, t.*)
select clock.now as now_at, found_at, claimed.next_at as lease_end, id, fence, name, task_key, due_at, status,
	attempt, deliveries, lost_deliveries, case when octet_length(payload) <= 65536 then payload end as payload,
	case when (select count(*) from claimed) < 100 then (
		select next_at from timingwheel_task
		where next_at > (select now from clock) and array_position((select names from clock), name::text) is not null
			and (owner is not null or next_at > (select now + look_ahead from clock))
		order by next_at limit 1) end as later_at
from clock left join claimed on true;

-- begin

with held as (
	select t.id from timingwheel_task t where t.id = any((select '{replaced}'::text[])::text[])
		and (t.id, t.fence) in (select * from unnest('{replaced}'::text[], '{3}'::bigint[]))
		and case when t.owner is not null and t.status <> 2 then true end
		and (select count(*) from generate_series(1, 1::int) a, generate_series(1, 1::int) b, generate_series(1, 1::int) c) > 0
	order by t.id for update of t skip locked)
update timingwheel_task t set deliveries = t.deliveries + case when t.status = 0 then 1 else 0 end, pending_key = null, status = 1, next_at = least(floor(extract(epoch from statement_timestamp()) * 1000)::bigint + 0 + 60000, 9000000000000000) where t.id = any(array(select id from held)) returning t.id, t.fence;

-- renew

with held as (
	select t.id from timingwheel_task t where t.id = any((select '{retried, done}'::text[])::text[])
		and (t.id, t.fence) in (select * from unnest('{retried, done}'::text[], '{2, 2}'::bigint[]))
		and case when t.owner is not null and t.status = 1 then true end
		and (select count(*) from generate_series(1, 1::int) a, generate_series(1, 1::int) b, generate_series(1, 1::int) c) > 0
	order by t.id for update of t skip locked)
update timingwheel_task t set next_at = least(floor(extract(epoch from statement_timestamp()) * 1000)::bigint + 0 + 60000, 9000000000000000) where t.id = any(array(select id from held)) returning t.id, t.fence;

-- retry

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('retried') order by id for update skip locked;

select id from timingwheel_task where name = 'close-order' and pending_key = 'k1';

update timingwheel_task set status = 0, owner = null, pending_key = task_key, due_at = 1000000647240, next_at = 1000000647240, attempt = 2, error = 'it failed' where id = 'retried';

-- bury

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('buried') order by id for update skip locked;

update timingwheel_task set status = 2, owner = null, pending_key = null, next_at = null, error = 'hopeless', died_at = 1000000646284 where id = 'buried';

-- acknowledge

with held as (
	select t.id from timingwheel_task t where t.id = any((select '{done}'::text[])::text[])
		and (t.id, t.fence) in (select * from unnest('{done}'::text[], '{2}'::bigint[]))
		and case when t.owner is not null and t.status = 1 then true end
		and (select count(*) from generate_series(1, 1::int) a, generate_series(1, 1::int) b, generate_series(1, 1::int) c) > 0
	order by t.id for update of t skip locked)
delete from timingwheel_task t where t.id = any(array(select id from held)) returning t.id, t.fence;

-- release

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('replaced') order by id for update skip locked;

select id from timingwheel_task where name = 'close-order' and pending_key = 'k3';

update timingwheel_task set status = 0, owner = null, pending_key = task_key, next_at = due_at where id = 'replaced';

-- reschedule

select id from timingwheel_task where name = 'close-order' and pending_key = 'k3';

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries, payload from timingwheel_task where id = 'replaced' and status = 0 for update;

update timingwheel_task set due_at = 1000000648407, next_at = 1000000648407, owner = null, fence = fence + 1 where id = 'replaced';

-- requeue

select id from timingwheel_task where id = 'buried' and status = 2 for update;

update timingwheel_task set status = 0, pending_key = task_key, due_at = 1000000646448, next_at = 1000000646448, fence = fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0, error = null, died_at = null where id = 'buried';

-- claim

with clock as (select floor(extract(epoch from statement_timestamp()) * 1000)::bigint + 0 as now, 20000 as look_ahead, '{close-order}'::text[] as names),
due as (
	select id, next_at from timingwheel_task
	where next_at <= (select now + look_ahead from clock) and array_position((select names from clock), name::text) is not null
		and (owner is null or next_at <= (select now from clock))
	order by next_at limit 100 for update skip locked),
claimed as (
	update timingwheel_task t set owner = 'a', fence = t.fence + 1,
		next_at = least(greatest(t.due_at, clock.now) + 60000, 9000000000000000),
		lost_deliveries = t.lost_deliveries + case when t.status = 1 then 1 else 0 end,
		deliveries = t.deliveries + case when t.due_at <= clock.now or t.status = 1 then 1 else 0 end,
		pending_key = case when t.due_at <= clock.now or t.status = 1 then null else t.pending_key end,
		status = case when t.due_at <= clock.now then 1 else t.status end
	from due, clock where t.id = due.id
	returning due.next_at as found_at, t.*)
select clock.now as now_at, found_at, claimed.next_at as lease_end, id, fence, name, task_key, due_at, status,
	attempt, deliveries, lost_deliveries, case when octet_length(payload) <= 65536 then payload end as payload,
	case when (select count(*) from claimed) < 100 then (
		select next_at from timingwheel_task
		where next_at > (select now from clock) and array_position((select names from clock), name::text) is not null
			and (owner is not null or next_at > (select now + look_ahead from clock))
		order by next_at limit 1) end as later_at
from clock left join claimed on true;

-- bury

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('buried') order by id for update skip locked;

update timingwheel_task set status = 2, owner = null, pending_key = null, next_at = null, error = 'hopeless', died_at = 1000000646529 where id = 'buried';

-- release

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('replaced', 'retried') order by id for update skip locked;

update timingwheel_task set status = 0, owner = null, pending_key = task_key, next_at = due_at where id = 'replaced';

update timingwheel_task set status = 0, owner = null, pending_key = task_key, next_at = due_at where id = 'retried';
