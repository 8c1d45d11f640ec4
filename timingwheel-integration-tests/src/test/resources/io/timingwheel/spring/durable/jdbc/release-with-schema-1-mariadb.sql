-- The statements of a node of the release with version 1 of the schema, as recorded on this database.

-- enqueue

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key in (x'6b31', x'6b32');

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('done', x'636c6f73652d6f72646572', null, null, '[1]', 1000000673521, 1000000673521, 0, null, 1, 1, 0, 0, 1000000673521);

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('retried', x'636c6f73652d6f72646572', x'6b31', x'6b31', '[1]', 1000000673521, 1000000673521, 0, null, 1, 1, 0, 0, 1000000673521) on duplicate key update fence = fence;

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('buried', x'636c6f73652d6f72646572', x'6b32', x'6b32', '[1]', 1000000673521, 1000000673521, 0, null, 1, 1, 0, 0, 1000000673521) on duplicate key update fence = fence;

select id from timingwheel_task where id in ('retried', 'buried');

-- enqueue, leased

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b34';

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('leased', x'636c6f73652d6f72646572', x'6b34', x'6b34', '[1]', 1000000688564, 1000000748564, 0, 'a', 1, 1, 0, 0, 1000000673564) on duplicate key update fence = fence;

select id from timingwheel_task where id in ('leased');

-- enqueue

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b33';

insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence, attempt, deliveries, lost_deliveries, created_at) values ('first', x'636c6f73652d6f72646572', x'6b33', x'6b33', '[1]', 1000000678567, 1000000678567, 0, null, 1, 1, 0, 0, 1000000673567) on duplicate key update fence = fence;

select id from timingwheel_task where id in ('first');

-- enqueue, replaces

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b33';

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id = 'first' and status = 0 for update;

update timingwheel_task set id = 'replaced', payload = '[1]', due_at = 1000000674573, next_at = 1000000674573, owner = null, fence = fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0, error = null, created_at = 1000000673573 where id = 'first';

-- claim

select (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) as now_at, (select next_at from timingwheel_task where next_at <= (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) + 20000 and concat(name, '') in (x'636c6f73652d6f72646572') and (owner is null or next_at <= (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0)) order by next_at limit 1) as claimable_at, (select next_at from timingwheel_task where next_at > (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) and concat(name, '') in (x'636c6f73652d6f72646572') and (owner is not null or next_at > (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) + 20000) order by next_at limit 1) as next_at;

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries, next_at, case when octet_length(payload) <= 65536 then payload end as payload from timingwheel_task where next_at <= 1000000693577 and concat(name, '') in (x'636c6f73652d6f72646572') and (owner is null or next_at <= 1000000673577) order by next_at limit 100 for update skip locked;

update timingwheel_task set owner = 'a', fence = fence + 1, next_at = least(greatest(due_at, 1000000673577) + 60000, 9000000000000000), lost_deliveries = lost_deliveries + case when status = 1 then 1 else 0 end, deliveries = deliveries + case when due_at <= 1000000673577 or status = 1 then 1 else 0 end, pending_key = case when due_at <= 1000000673577 or status = 1 then null else pending_key end, status = case when due_at <= 1000000673577 then 1 else status end where id in ('buried', 'done', 'retried', 'replaced');

-- begin

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('replaced') order by id for update skip locked;

update timingwheel_task set deliveries = deliveries + case when status = 0 then 1 else 0 end, pending_key = null, status = 1, next_at = least((timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) + 60000, 9000000000000000) where id in ('replaced');

-- renew

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('done', 'retried') order by id for update skip locked;

update timingwheel_task set next_at = least((timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) + 60000, 9000000000000000) where id in ('retried', 'done');

-- retry

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('retried') order by id for update skip locked;

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b31' for update nowait;

update timingwheel_task set status = 0, owner = null, pending_key = task_key, due_at = 1000000674588, next_at = 1000000674588, attempt = 2, error = 'it failed' where id = 'retried';

-- bury

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('buried') order by id for update skip locked;

update timingwheel_task set status = 2, owner = null, pending_key = null, next_at = null, error = 'hopeless', died_at = 1000000673594 where id = 'buried';

-- acknowledge

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('done') order by id for update skip locked;

delete from timingwheel_task where id in ('done');

-- release

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('replaced') order by id for update skip locked;

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b33' for update nowait;

update timingwheel_task set status = 0, owner = null, pending_key = task_key, next_at = due_at where id = 'replaced';

-- reschedule

select id from timingwheel_task where name = x'636c6f73652d6f72646572' and pending_key = x'6b33';

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries, payload from timingwheel_task where id = 'replaced' and status = 0 for update;

update timingwheel_task set due_at = 1000000675621, next_at = 1000000675621, owner = null, fence = fence + 1 where id = 'replaced';

-- requeue

select id from timingwheel_task where id = 'buried' and status = 2 for update;

update timingwheel_task set status = 0, pending_key = task_key, due_at = 1000000673624, next_at = 1000000673624, fence = fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0, error = null, died_at = null where id = 'buried';

-- claim

select (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) as now_at, (select next_at from timingwheel_task where next_at <= (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) + 20000 and concat(name, '') in (x'636c6f73652d6f72646572') and (owner is null or next_at <= (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0)) order by next_at limit 1) as claimable_at, (select next_at from timingwheel_task where next_at > (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) and concat(name, '') in (x'636c6f73652d6f72646572') and (owner is not null or next_at > (timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000 + 0) + 20000) order by next_at limit 1) as next_at;

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries, next_at, case when octet_length(payload) <= 65536 then payload end as payload from timingwheel_task where next_at <= 1000000693626 and concat(name, '') in (x'636c6f73652d6f72646572') and (owner is null or next_at <= 1000000673626) order by next_at limit 100 for update skip locked;

update timingwheel_task set owner = 'a', fence = fence + 1, next_at = least(greatest(due_at, 1000000673626) + 60000, 9000000000000000), lost_deliveries = lost_deliveries + case when status = 1 then 1 else 0 end, deliveries = deliveries + case when due_at <= 1000000673626 or status = 1 then 1 else 0 end, pending_key = case when due_at <= 1000000673626 or status = 1 then null else pending_key end, status = case when due_at <= 1000000673626 then 1 else status end where id in ('buried', 'retried', 'replaced', 'replaced');

-- bury

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('buried') order by id for update skip locked;

update timingwheel_task set status = 2, owner = null, pending_key = null, next_at = null, error = 'hopeless', died_at = 1000000673634 where id = 'buried';

-- release

select id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries from timingwheel_task where id in ('replaced', 'retried') order by id for update skip locked;

update timingwheel_task set status = 0, owner = null, pending_key = task_key, next_at = due_at where id = 'replaced';

update timingwheel_task set status = 0, owner = null, pending_key = task_key, next_at = due_at where id = 'retried';
