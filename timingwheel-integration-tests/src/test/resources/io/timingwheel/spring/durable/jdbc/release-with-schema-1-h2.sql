-- The statements of a node of the release with version 1 of the schema, as recorded on this database.

-- enqueue

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key in (x'6b31', x'6b32');

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('done', x'636c6f73652d6f72646572', null, null, '[1]', 1000000636570, 1000000636570, 0, null, 1, 1, 0, 0, 1000000636570);

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('retried', x'636c6f73652d6f72646572', x'6b31', x'6b31', '[1]', 1000000636570, 1000000636570, 0, null, 1, 1, 0, 0, 1000000636570);

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('buried', x'636c6f73652d6f72646572', x'6b32', x'6b32', '[1]', 1000000636570, 1000000636570, 0, null, 1, 1, 0, 0, 1000000636570);

-- enqueue, leased

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b34';

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('leased', x'636c6f73652d6f72646572', x'6b34', x'6b34', '[1]', 1000000651997, 1000000711997, 0, 'a', 1, 1, 0, 0, 1000000636997);

-- enqueue

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b33';

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('first', x'636c6f73652d6f72646572', x'6b33', x'6b33', '[1]', 1000000642017, 1000000642017, 0, null, 1, 1, 0, 0, 1000000637017);

-- enqueue, replaces

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b33';

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id = 'first' and status = 0 for update;

update timingwheel_task set id = 'replaced', payload = '[1]', due_at = 1000000638019, next_at = 1000000638019, owner = null, fence = fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0, error = null, created_at = 1000000637019 where id = 'first';

-- claim

select cast(1000000637148 as bigint) as now_at, (select next_at from timingwheel_task where next_at <= cast(1000000637148 as bigint) + 20000 and coalesce(name, x'') in (x'636c6f73652d6f72646572') and (owner is null or next_at <= cast(1000000637148 as bigint)) order by next_at limit 1) as claimable_at, (select next_at from timingwheel_task where next_at > cast(1000000637148 as bigint) and coalesce(name, x'') in (x'636c6f73652d6f72646572') and (owner is not null or next_at > cast(1000000637148 as bigint) + 20000) order by next_at limit 1) as next_at;

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries, next_at, case when octet_length(payload) <= 65536 then payload end as payload from timingwheel_task where next_at <= 1000000657148 and coalesce(name, x'') in (x'636c6f73652d6f72646572') and (owner is null or next_at <= 1000000637148) order by next_at limit 100 for update skip locked;

update timingwheel_task set owner = 'a', fence = fence + 1, next_at = least(greatest(due_at, 1000000637148) + 60000, 9000000000000000), lost_deliveries = lost_deliveries + case when status = 1 then 1 else 0 end, deliveries = deliveries + case when due_at <= 1000000637148 or status = 1 then 1 else 0 end, pending_key = case when due_at <= 1000000637148 or status = 1 then null else pending_key end, status = case when due_at <= 1000000637148 then 1 else status end where id in ('done', 'retried', 'buried', 'replaced');

-- begin

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('replaced') order by id for update skip locked;

update timingwheel_task set deliveries = deliveries + case when status = 0 then 1 else 0 end, pending_key = null, status = 1, next_at = least(cast(1000000637302 as bigint) + 60000, 9000000000000000) where id in ('replaced');

-- renew

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('done', 'retried') order by id for update skip locked;

update timingwheel_task set next_at = least(cast(1000000637338 as bigint) + 60000, 9000000000000000) where id in ('retried', 'done');

-- retry

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('retried') order by id for update skip locked;

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b31';

update timingwheel_task set status = 0, owner = null, pending_key = task_key, due_at = 1000000638414, next_at = 1000000638414, attempt = 2, error = 'it failed' where id = 'retried';

-- bury

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('buried') order by id for update skip locked;

update timingwheel_task set status = 2, owner = null, pending_key = null, next_at = null, error = 'hopeless', died_at = 1000000637450 where id = 'buried';

-- acknowledge

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('done') order by id for update skip locked;

delete from timingwheel_task where id in ('done');

-- release

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('replaced') order by id for update skip locked;

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b33';

update timingwheel_task set status = 0, owner = null, pending_key = task_key, next_at = due_at where id = 'replaced';

-- reschedule

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b33';

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries, payload from timingwheel_task where id = 'replaced' and status = 0 for update;

update timingwheel_task set due_at = 1000000639528, next_at = 1000000639528, owner = null, fence = fence + 1 where id = 'replaced';

-- requeue

select id from timingwheel_task where id = 'buried' and status = 2 for update;

update timingwheel_task set status = 0, pending_key = task_key, due_at = 1000000637531, next_at = 1000000637531, fence = fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0, error = null, died_at = null where id = 'buried';

-- claim

select cast(1000000637562 as bigint) as now_at, (select next_at from timingwheel_task where next_at <= cast(1000000637562 as bigint) + 20000 and coalesce(name, x'') in (x'636c6f73652d6f72646572') and (owner is null or next_at <= cast(1000000637562 as bigint)) order by next_at limit 1) as claimable_at, (select next_at from timingwheel_task where next_at > cast(1000000637562 as bigint) and coalesce(name, x'') in (x'636c6f73652d6f72646572') and (owner is not null or next_at > cast(1000000637562 as bigint) + 20000) order by next_at limit 1) as next_at;

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries, next_at, case when octet_length(payload) <= 65536 then payload end as payload from timingwheel_task where next_at <= 1000000657562 and coalesce(name, x'') in (x'636c6f73652d6f72646572') and (owner is null or next_at <= 1000000637562) order by next_at limit 100 for update skip locked;

update timingwheel_task set owner = 'a', fence = fence + 1, next_at = least(greatest(due_at, 1000000637562) + 60000, 9000000000000000), lost_deliveries = lost_deliveries + case when status = 1 then 1 else 0 end, deliveries = deliveries + case when due_at <= 1000000637562 or status = 1 then 1 else 0 end, pending_key = case when due_at <= 1000000637562 or status = 1 then null else pending_key end, status = case when due_at <= 1000000637562 then 1 else status end where id in ('buried', 'retried', 'replaced', 'replaced');

-- bury

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('buried') order by id for update skip locked;

update timingwheel_task set status = 2, owner = null, pending_key = null, next_at = null, error = 'hopeless', died_at = 1000000637625 where id = 'buried';

-- release

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('replaced', 'retried') order by id for update skip locked;

update timingwheel_task set status = 0, owner = null, pending_key = task_key, next_at = due_at where id = 'replaced';

update timingwheel_task set status = 0, owner = null, pending_key = task_key, next_at = due_at where id = 'retried';
