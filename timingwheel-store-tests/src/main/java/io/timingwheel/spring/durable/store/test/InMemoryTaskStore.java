package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * A store in the memory of this JVM: the example for authors of stores, and a store for
 * tests of what uses one. Plain collections under one lock make the changes of the table
 * in {@link io.timingwheel.spring.durable.store}, in its words. It takes part in no
 * transactions. Several objects may share their tasks, as the nodes of a cluster share a
 * server. Thread-safe. A test may override methods, so that they fail or wait.
 *
 * @since 0.1
 */
public class InMemoryTaskStore implements DelayedTaskStore {

	/** How many dead tasks are kept. */
	static final int MAX_DEAD = 10_000;

	private static final Comparator<StoredTask.Position> BY_POSITION = Comparator
		.comparingLong(StoredTask.Position::time)
		.thenComparing(StoredTask.Position::id);

	private final InMemoryTasks tasks;

	private final AtomicLong droppedDead = new AtomicLong();

	private volatile LongSupplier clock = System::currentTimeMillis;

	/** Creates a store without tasks. */
	public InMemoryTaskStore() {
		this.tasks = new InMemoryTasks();
	}

	/**
	 * Creates a store with the tasks of another one, as another node has it. It has a
	 * clock of its own.
	 * @param other the other store
	 */
	public InMemoryTaskStore(InMemoryTaskStore other) {
		this.tasks = other.tasks;
	}

	/**
	 * Makes one call. The call reads the time before it waits for the lock, since the
	 * clock of a test may wait for another call.
	 */
	private <T extends @Nullable Object> T call(Function<Long, T> call) {
		long now = now();
		synchronized (this.tasks) {
			return call.apply(now);
		}
	}

	private <T, R> List<R> callEach(List<T> requests, BiFunction<T, Long, R> call) {
		return call((now) -> requests.stream().map((request) -> call.apply(request, now)).toList());
	}

	// Calls of applications

	@Override
	public List<Enqueued> enqueue(List<NewTask> newTasks) {
		return callEach(newTasks, this::enqueue);
	}

	/** None: scheduled. Scheduled, leased: scheduled with a new id, or the same. */
	private Enqueued enqueue(NewTask request, long now) {
		InMemoryTask pending = (request.key() != null)
				? this.tasks.find(Target.of(new TaskId(request.name(), request.key()), Kind.ONCE)) : null;
		if (pending != null && !request.replaces()) {
			return new Enqueued(Outcome.PENDING, pending.id, pending.dueAt, now);
		}
		InMemoryTask task = new InMemoryTask(request.id(), request.name(), request.key(), request.payload(),
				request.traceparent());
		task.firstAt = (pending != null) ? pending.firstAt : null;
		if (task.firstAt == null && request.maxWait() != null) {
			task.firstAt = now;
		}
		task.dueAt = request.dueAt(now, (pending != null) ? pending.dueAt : null,
				Objects.requireNonNullElse(task.firstAt, now));
		if (pending != null) {
			this.tasks.delete(pending);
		}
		this.tasks.insert(task, now);
		return new Enqueued((pending != null) ? Outcome.REPLACED : Outcome.INSERTED, task.id, task.dueAt, now);
	}

	@Override
	public Enqueued recur(NewSchedule schedule) {
		return call((now) -> {
			InMemoryTask task = this.tasks.find(Target.of(new TaskId(schedule.name(), schedule.key()), Kind.SCHEDULE));
			if (schedule.onlyIfLost() && (task != null || this.tasks.marks.contains(schedule.name()))) {
				return (task != null) ? new Enqueued(Outcome.PENDING, task.id, task.dueAt, now)
						: new Enqueued(Outcome.PENDING, "", now, now);
			}
			if (DECLARED_KEY.equals(schedule.key())) {
				this.tasks.marks.remove(schedule.name());
			}
			if (task == null) {
				long first = schedule.first().resolve(now);
				return insert(schedule, first, first, 1, Outcome.INSERTED, now);
			}
			return (task.state == State.RUNNING) ? recurDuringRun(task, schedule, now) : recur(task, schedule, now);
		});
	}

	private Enqueued insert(NewSchedule schedule, long dueAt, long scheduledAt, int attempt, Outcome outcome,
			long now) {
		InMemoryTask task = new InMemoryTask(schedule.id(), schedule.name(), schedule.key(), schedule.payload(), null);
		task.schedule = schedule.schedule();
		task.scheduledAt = scheduledAt;
		task.dueAt = dueAt;
		task.attempt = attempt;
		this.tasks.insert(task, now);
		return new Enqueued(outcome, task.id, dueAt, now);
	}

	/**
	 * Scheduled, leased: the same, or scheduled with a new id, since a node that has
	 * leased the task has the former payload.
	 */
	private Enqueued recur(InMemoryTask task, NewSchedule schedule, long now) {
		if (schedule.schedule().equals(task.schedule)) {
			if (schedule.payload().equals(task.payload)) {
				return new Enqueued(Outcome.PENDING, task.id, task.dueAt, now);
			}
			this.tasks.delete(task);
			return insert(schedule, task.dueAt, task.scheduledAt, task.attempt, Outcome.PENDING, now);
		}
		long first = schedule.first().resolve(now);
		boolean overdue = task.isDue(now) && first > now;
		this.tasks.delete(task);
		return insert(schedule, overdue ? Math.min(task.dueAt, task.scheduledAt) : first, first, 1, Outcome.REPLACED,
				now);
	}

	/** Running with a schedule: running. The new schedule begins after the run. */
	private Enqueued recurDuringRun(InMemoryTask task, NewSchedule schedule, long now) {
		boolean same = schedule.schedule().equals(task.schedule);
		if (!same) {
			task.schedule = schedule.schedule();
			task.scheduledAt = schedule.first().resolve(now);
		}
		task.payload = schedule.payload();
		return same ? new Enqueued(Outcome.PENDING, task.id, task.dueAt, now)
				: new Enqueued(Outcome.REPLACED, task.id, task.scheduledAt, now);
	}

	/**
	 * Scheduled, leased: gone. Running with a schedule: running without it. The cancel of
	 * a declared schedule leaves a mark.
	 */
	@Override
	public boolean cancel(Target target) {
		return call((now) -> {
			InMemoryTask task = this.tasks.find(target);
			boolean running = task != null && task.state == State.RUNNING && task.schedule != null;
			if (task == null || !(task.state.isPending() || running)) {
				return false;
			}
			if (task.schedule != null && DECLARED_KEY.equals(task.key)) {
				this.tasks.marks.add(task.name);
			}
			if (running) {
				this.tasks.endSchedule(task);
			}
			else {
				this.tasks.delete(task);
			}
			return true;
		});
	}

	/** Scheduled, leased: scheduled. */
	@Override
	public @Nullable Moved move(Target target, DueTime due) {
		return this.<@Nullable Moved>call((now) -> {
			InMemoryTask task = this.tasks.find(target);
			if (task == null || !task.state.isPending()) {
				return null;
			}
			task.dueAt = due.resolve(task.dueAt, now);
			task.state = State.SCHEDULED;
			task.raiseFence(now);
			task.nextAt = task.dueAt;
			return new Moved(task.id, task.name, task.dueAt, now);
		});
	}

	@Override
	public Optional<StoredTask> find(Target target) {
		return call((now) -> Optional.ofNullable(this.tasks.find(target)).map(InMemoryTask::stored));
	}

	@Override
	public boolean joinsTransaction() {
		return false;
	}

	// What nodes do

	@Override
	public Claimed claim(ClaimRequest request) {
		return call((now) -> new InMemoryClaim(this.tasks, request, now).claim());
	}

	/** Leased: running. Running: the same. */
	@Override
	public List<Reply> begin(List<TaskRef> refs, Duration lease) {
		return callEach(refs, (ref, now) -> {
			InMemoryTask task = held(ref);
			// A suspect whose lease has ended counts for no limit any more.
			if (task == null || (task.lost > 0 && task.isFree(now))) {
				return Reply.REFUSED;
			}
			if (task.state == State.LEASED) {
				this.tasks.begin(task);
			}
			task.nextAt = InMemoryTasks.after(now, lease);
			return Reply.DONE;
		});
	}

	/** Running: running. */
	@Override
	public List<Reply> renew(List<TaskRef> refs, Duration lease) {
		return callEach(refs, (ref, now) -> {
			InMemoryTask task = held(ref);
			if (task == null || task.state != State.RUNNING) {
				return Reply.REFUSED;
			}
			task.nextAt = InMemoryTasks.after(now, lease);
			return Reply.DONE;
		});
	}

	/** The task that the caller has, leased or running. */
	private @Nullable InMemoryTask held(TaskRef ref) {
		InMemoryTask task = this.tasks.find(ref.id());
		return (task != null && task.fence == ref.fence() && task.isHeld()) ? task : null;
	}

	@Override
	public List<Reply> settle(List<Settlement> settlements) {
		return callEach(settlements, (settlement, now) -> {
			InMemoryTask task = held(settlement.task());
			return (task != null) ? settle(task, settlement, now) : replyAgain(settlement);
		});
	}

	/**
	 * The reply about a task that the caller does not have. The fence stays when a node
	 * gives a task back, so that a repeated call is known by it.
	 */
	private Reply replyAgain(Settlement settlement) {
		InMemoryTask task = this.tasks.find(settlement.task().id());
		boolean done;
		if (task == null) {
			done = settlement instanceof Settlement.Acknowledge || settlement instanceof Settlement.Repeat;
		}
		else {
			State settled = (settlement instanceof Settlement.Bury) ? State.DEAD : State.SCHEDULED;
			done = task.fence == settlement.task().fence() && task.state == settled
					&& !(settlement instanceof Settlement.Acknowledge);
		}
		return done ? Reply.DONE : Reply.REFUSED;
	}

	private Reply settle(InMemoryTask task, Settlement settlement, long now) {
		if (settlement instanceof Settlement.Acknowledge) {
			return acknowledge(task);
		}
		if (settlement instanceof Settlement.Repeat repeat) {
			return repeat(task, repeat, now);
		}
		if (settlement instanceof Settlement.Retry retry) {
			return retry(task, retry, now);
		}
		if (settlement instanceof Settlement.Release release) {
			return release(task, release);
		}
		return bury(task, (Settlement.Bury) settlement, now);
	}

	/** Running: gone. */
	private Reply acknowledge(InMemoryTask task) {
		if (task.state != State.RUNNING) {
			return Reply.REFUSED;
		}
		this.tasks.delete(task);
		return Reply.DONE;
	}

	/** Leased, running: scheduled, lost = 0. Gone if the schedule has ended. */
	private Reply repeat(InMemoryTask task, Settlement.Repeat repeat, long now) {
		boolean sameSchedule = repeat.schedule().equals(task.schedule);
		if (task.schedule == null || (sameSchedule && repeat.next() == null)) {
			this.tasks.delete(task);
			return Reply.DONE;
		}
		if (sameSchedule) {
			task.scheduledAt = Objects.requireNonNull(repeat.next()).resolve(now);
		}
		task.dueAt = task.scheduledAt;
		task.startAnew();
		task.error = repeat.error();
		this.tasks.schedule(task);
		return Reply.DONE;
	}

	/**
	 * Running: scheduled, lost = 0. Gone if the key is taken, or if the schedule was
	 * cancelled.
	 */
	private Reply retry(InMemoryTask task, Settlement.Retry retry, long now) {
		if (task.state != State.RUNNING) {
			return Reply.REFUSED;
		}
		task.attempt = retry.attempt();
		task.error = retry.error();
		task.dueAt = InMemoryTasks.after(now, retry.delay());
		task.lost = 0;
		return scheduleAgain(task);
	}

	/**
	 * Leased, running: scheduled. Gone if the key is taken, or if the schedule was
	 * cancelled. The delivery of a body that has not started does not count.
	 */
	private Reply release(InMemoryTask task, Settlement.Release release) {
		if (task.state == State.RUNNING && !release.started()) {
			task.deliveries--;
		}
		return scheduleAgain(task);
	}

	private Reply scheduleAgain(InMemoryTask task) {
		if (task.ended) {
			this.tasks.delete(task);
			return Reply.SUPERSEDED;
		}
		return this.tasks.schedule(task) ? Reply.DONE : Reply.SUPERSEDED;
	}

	/** Leased, running: dead. The oldest dead task is gone if there are too many. */
	private Reply bury(InMemoryTask task, Settlement.Bury bury, long now) {
		if (task.ended) {
			this.tasks.delete(task);
			return Reply.DONE;
		}
		this.tasks.bury(task, bury.reason(), now);
		if (this.tasks.dead().count() > MAX_DEAD) {
			this.tasks.dead().findFirst().ifPresent(this.tasks::delete);
			this.droppedDead.incrementAndGet();
		}
		return Reply.DONE;
	}

	@Override
	public void heartbeat(NodeState state) {
		call((now) -> (state.activity() == NodeState.Activity.ENDED) ? this.tasks.reports.remove(state.nodeId())
				: this.tasks.reports.put(state.nodeId(), new InMemoryTasks.Report(state, now)));
	}

	// What operators do

	@Override
	public ListQuery.Page list(ListQuery query) {
		boolean pending = query.order() == ListQuery.Order.PENDING;
		Comparator<StoredTask.Position> order = pending ? BY_POSITION : BY_POSITION.reversed();
		return call((now) -> {
			List<StoredTask> tasks = this.tasks.all()
				.filter((task) -> task.name.equals(query.name()))
				.filter((task) -> pending ? task.state.isPending() : task.state == State.DEAD)
				.map(InMemoryTask::stored)
				.filter((task) -> query.after() == null || order.compare(task.position(), query.after()) > 0)
				.sorted(Comparator.comparing(StoredTask::position, order))
				.limit(query.limit() + 1L)
				.toList();
			boolean more = tasks.size() > query.limit();
			return new ListQuery.Page(more ? tasks.subList(0, query.limit()) : tasks, more);
		});
	}

	/** Dead: scheduled, due now, lost = 0. Dead if the key is taken. */
	@Override
	public List<Requeue> requeue(List<String> ids) {
		return callEach(ids, (id, now) -> {
			InMemoryTask task = this.tasks.find(id);
			if (task == null || task.state != State.DEAD) {
				return Requeue.NOT_DEAD;
			}
			if (!this.tasks.takeKey(task)) {
				return Requeue.KEY_PENDING;
			}
			task.startAnew();
			task.dueAt = now;
			task.raiseFence(now);
			this.tasks.schedule(task);
			return Requeue.REQUEUED;
		});
	}

	/** Dead: gone. */
	@Override
	public int discard(List<String> ids) {
		return call((now) -> discard(this.tasks.dead().filter((task) -> ids.contains(task.id))));
	}

	@Override
	public int discardOlder(Duration age, int limit) {
		return call(
				(now) -> discard(this.tasks.dead().filter((task) -> task.diedAt < now - age.toMillis()).limit(limit)));
	}

	private int discard(Stream<InMemoryTask> dead) {
		List<InMemoryTask> tasks = dead.toList();
		tasks.forEach(this.tasks::delete);
		return tasks.size();
	}

	@Override
	public long droppedDead() {
		return this.droppedDead.get();
	}

	@Override
	public Map<String, StoredCounts> counts(Collection<String> names) {
		return call((now) -> {
			Map<String, StoredCounts> counts = new HashMap<>();
			this.tasks.all()
				.filter((task) -> names.isEmpty() || names.contains(task.name))
				.forEach((task) -> counts.merge(task.name, count(task, now), StoredCounts::plus));
			return counts;
		});
	}

	private static StoredCounts count(InMemoryTask task, long now) {
		return switch (task.state) {
			case SCHEDULED, LEASED -> new StoredCounts(1, task.isDue(now) ? 1 : 0, 0, 0);
			case RUNNING -> new StoredCounts(0, 0, 1, 0);
			case DEAD -> new StoredCounts(0, 0, 0, 1);
		};
	}

	@Override
	public Forecast forecast(Forecast.Query query) {
		return call((now) -> {
			Map<String, Forecast.DueCounts> names = new HashMap<>();
			query.pending().keySet().forEach((name) -> names.put(name, forecast(name, query, now)));
			return new Forecast(now, names);
		});
	}

	private Forecast.DueCounts forecast(String name, Forecast.Query query, long now) {
		List<Long> counts = new ArrayList<>(Collections.nCopies(query.spans(), 0L));
		this.tasks.all()
			.filter((task) -> task.name.equals(name) && task.state.isPending())
			.mapToLong((task) -> Math.floorDiv(task.dueAt - now, query.span().toMillis()))
			.filter((span) -> span >= 0 && span < query.spans())
			.forEach((span) -> counts.set((int) span, counts.get((int) span) + 1));
		return new Forecast.DueCounts(counts, false);
	}

	@Override
	public void setPaused(String name, boolean paused) {
		call((now) -> paused ? this.tasks.paused.add(name) : this.tasks.paused.remove(name));
	}

	@Override
	public List<NodeState.Reported> nodes() {
		return call((now) -> this.tasks.reports.values()
			.stream()
			.filter((report) -> report.at() >= now - NODE_RETENTION.toMillis())
			.sorted(Comparator.comparingLong(InMemoryTasks.Report::at).reversed())
			.limit(MAX_NODES)
			.map((report) -> new NodeState.Reported(report.state(), Duration.ofMillis(Math.max(0, now - report.at()))))
			.toList());
	}

	// The store itself

	@Override
	public long now() {
		return this.clock.getAsLong();
	}

	@Override
	public Testing testing() {
		return new Testing() {

			@Override
			public void setClock(@Nullable LongSupplier millis) {
				InMemoryTaskStore.this.clock = (millis != null) ? millis : System::currentTimeMillis;
			}

			@Override
			public void deleteAll() {
				call((now) -> {
					InMemoryTaskStore.this.tasks.deleteAll();
					return true;
				});
			}

		};
	}

}
