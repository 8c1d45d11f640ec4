package io.timingwheel.spring.durable.reference;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.DeadQuery;
import io.timingwheel.spring.durable.DeadTask;
import io.timingwheel.spring.durable.DeadTasks;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Forecast;
import io.timingwheel.spring.durable.ForecastQuery;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.NodeState;
import io.timingwheel.spring.durable.PendingQuery;
import io.timingwheel.spring.durable.ReportedNode;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.springframework.util.Assert;

/**
 * The contract of a store in its simplest form: tasks in the memory of this JVM, under
 * one lock. Each node has an object of its own on the same {@link Data}. It limits no
 * starts. Thread-safe.
 */
public final class ReferenceStore implements DelayedTaskStore {

	private final Data data;

	private LongSupplier clock = System::currentTimeMillis;

	private long offset;

	/**
	 * Creates the store of a node.
	 * @param data what all nodes share
	 */
	public ReferenceStore(Data data) {
		this.data = data;
	}

	// Storing

	@Override
	public List<Enqueued> enqueueAll(List<NewTask> tasks) {
		synchronized (this.data) {
			tasks.forEach((task) -> {
				TaskLimits.checkName(task.name());
				TaskLimits.checkKey(task.key());
			});
			return tasks.stream().map(this::enqueueOne).toList();
		}
	}

	private Enqueued enqueueOne(NewTask request) {
		long now = now();
		ReferenceTask pending = (request.key() != null)
				? this.data.pendingKeys.get(new TaskId(request.name(), request.key())) : null;
		if (pending != null && !request.replaces()) {
			return new Enqueued(Outcome.PENDING, pending.id, pending.fence, pending.dueAt, now, false);
		}
		ReferenceTask task = this.data.newTask(request.id(), request.name(), request.key(), request.payload(),
				request.traceparent());
		Long firstAt = (pending != null) ? pending.firstAt : null;
		task.firstAt = (firstAt == null && request.maxWait() != null) ? Long.valueOf(now) : firstAt;
		task.dueAt = request.dueAt(now, (pending != null) ? pending.dueAt : null,
				(task.firstAt != null) ? task.firstAt : now);
		if (pending != null) {
			this.data.delete(pending);
		}
		this.data.add(task);
		boolean leased = offer(task, request.lease(), now);
		return new Enqueued((pending != null) ? Outcome.REPLACED : Outcome.INSERTED, task.id, task.fence, task.dueAt,
				now, leased);
	}

	/**
	 * Makes a task free at its due time, or leases it to the caller if it is due soon.
	 */
	private boolean offer(ReferenceTask task, @Nullable LeaseOffer lease, long now) {
		boolean leased = lease != null && !task.suspect && task.dueAt <= after(now, lease.lookAhead());
		task.fence = this.data.nextNumber();
		task.owner = leased ? lease.owner() : null;
		task.settledBy = null;
		this.data.move(task, leased ? after(Math.max(task.dueAt, now), lease.lease()) : task.dueAt);
		return leased;
	}

	@Override
	public Enqueued recur(NewSchedule request) {
		synchronized (this.data) {
			TaskLimits.checkName(request.name());
			TaskLimits.checkKey(request.key());
			long now = now();
			TaskId key = new TaskId(request.name(), request.key());
			ReferenceTask task = this.data.schedules.get(key);
			this.data.cancelled.remove(key);
			if (task == null) {
				return new Enqueued(Outcome.INSERTED, request.id(), 0, insert(request, now).dueAt, now, false);
			}
			if (task.state == State.RUNNING) {
				return recurDuringRun(task, request, now);
			}
			if (!request.schedule().equals(task.schedule)) {
				this.data.delete(task);
				return new Enqueued(Outcome.REPLACED, request.id(), 0, replace(task, request, now).dueAt, now, false);
			}
			if (!request.payload().equals(task.payload)) {
				task.payload = request.payload();
				offer(task, null, now);
			}
			return new Enqueued(Outcome.PENDING, task.id, task.fence, task.dueAt, now, false);
		}
	}

	@Override
	public boolean restore(NewSchedule request) {
		synchronized (this.data) {
			TaskId key = new TaskId(request.name(), request.key());
			if (this.data.schedules.containsKey(key) || this.data.cancelled.contains(key)) {
				return false;
			}
			recur(request);
			return true;
		}
	}

	private ReferenceTask insert(NewSchedule request, long now) {
		ReferenceTask task = definition(request, now);
		this.data.add(task);
		offer(task, null, now);
		return task;
	}

	/**
	 * Stores a schedule in place of another one, whose overdue run stays due.
	 */
	private ReferenceTask replace(ReferenceTask former, NewSchedule request, long now) {
		ReferenceTask task = definition(request, now);
		if (former.dueAt <= now && task.dueAt > now) {
			task.dueAt = Math.min(former.dueAt, former.scheduledAt);
		}
		this.data.add(task);
		offer(task, null, now);
		return task;
	}

	private ReferenceTask definition(NewSchedule request, long now) {
		ReferenceTask task = this.data.newTask(request.id(), request.name(), request.key(), request.payload(),
				request.traceparent());
		task.schedule = request.schedule();
		task.dueAt = request.first().resolve(now);
		task.scheduledAt = task.dueAt;
		return task;
	}

	private Enqueued recurDuringRun(ReferenceTask task, NewSchedule request, long now) {
		ReferenceTask latest = (task.successor != null) ? task.successor : task;
		if (request.schedule().equals(latest.schedule)) {
			latest.payload = request.payload();
			return new Enqueued(Outcome.PENDING, task.id, task.fence, latest.dueAt, now, false);
		}
		task.successor = definition(request, now);
		return new Enqueued(Outcome.REPLACED, task.id, task.fence, task.successor.dueAt, now, false);
	}

	// What nodes do

	@Override
	public Claimed claim(ClaimRequest request) {
		Assert.isTrue(request.startLimits().isEmpty(), "This store limits no starts");
		synchronized (this.data) {
			long now = now();
			long until = after(now, request.lookAhead());
			if (request.suspect()) {
				ReferenceTask suspect = suspect(request, until);
				if (suspect != null) {
					return new Claimed(List.of(leaseSuspect(suspect, request, now)), now, nextAt(request));
				}
			}
			boolean found = false;
			Map<String, int[]> taken = new HashMap<>();
			List<LeasedTask> claimed = new ArrayList<>();
			for (ReferenceTask task : this.data.until(until)) {
				if (claimed.size() == request.limit()) {
					break;
				}
				Limit limit = request.names().get(task.name);
				if (limit == null || task.suspect || (task.owner != null && task.nextAt > now)) {
					continue;
				}
				if (task.state == State.RUNNING) {
					lose(task);
					found = true;
					continue;
				}
				boolean due = task.dueAt <= now;
				int[] counts = taken.computeIfAbsent(task.name, (name) -> new int[2]);
				if (counts[due ? 0 : 1] < (due ? limit.due() : limit.soon())) {
					counts[due ? 0 : 1]++;
					claimed.add(lease(task, request, due, now));
				}
			}
			return new Claimed(claimed, now, found ? now : nextAt(request));
		}
	}

	private LeasedTask lease(ReferenceTask task, ClaimRequest request, boolean due, long now) {
		task.owner = request.owner();
		task.fence = this.data.nextNumber();
		task.settledBy = null;
		this.data.move(task, after(Math.max(task.dueAt, now), request.lease()));
		if (due) {
			begin(task);
		}
		return task.leased(request.maxPayloadBytes());
	}

	/**
	 * Takes a task away from a node whose lease has ended.
	 */
	private void lose(ReferenceTask task) {
		task.suspect = true;
		free(task, "lost");
		task.fence = this.data.nextNumber();
	}

	private @Nullable ReferenceTask suspect(ClaimRequest request, long until) {
		return this.data.until(until)
			.stream()
			.filter((task) -> task.suspect && request.names().containsKey(task.name)
					&& (task.owner == null || task.nextAt <= now()))
			.findFirst()
			.orElse(null);
	}

	private LeasedTask leaseSuspect(ReferenceTask task, ClaimRequest request, long now) {
		if (task.owner != null && task.begun) {
			task.lostDeliveries++;
		}
		task.owner = request.owner();
		task.fence = this.data.nextNumber();
		task.begun = false;
		task.settledBy = null;
		this.data.move(task, after(Math.max(task.dueAt, now), request.lease()));
		return task.leased(request.maxPayloadBytes());
	}

	/**
	 * The earliest time of these names, without the suspects that wait for a request.
	 */
	private long nextAt(ClaimRequest request) {
		return this.data.byTime.stream()
			.filter((task) -> request.names().containsKey(task.name) && !(task.suspect && task.owner == null))
			.findFirst()
			.map((task) -> task.nextAt)
			.orElse(Long.MAX_VALUE);
	}

	private void begin(ReferenceTask task) {
		task.begun = true;
		task.state = State.RUNNING;
		task.firstAt = null;
		task.deliveries++;
		this.data.giveKeyUp(task);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return replies(tasks, Function.identity(), (task, request) -> {
			if (task.owner == null) {
				return Reply.REFUSED;
			}
			if (!task.begun) {
				begin(task);
			}
			this.data.move(task, after(now(), lease));
			return Reply.DONE;
		});
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return replies(tasks, Function.identity(), (task, request) -> {
			if (task.owner == null || !task.begun) {
				return Reply.REFUSED;
			}
			this.data.move(task, after(now(), lease));
			return Reply.DONE;
		});
	}

	@Override
	public List<Reply> acknowledge(List<TaskRef> tasks) {
		return repliesOrDone(tasks, Function.identity(), (task, request) -> {
			if (task.owner == null || !task.begun) {
				return Reply.REFUSED;
			}
			this.data.delete(task);
			return Reply.DONE;
		});
	}

	@Override
	public List<Reply> repeat(List<NextRun> runs) {
		return repliesOrDone(runs, NextRun::task, (task, run) -> settle(task, "repeat", () -> {
			ReferenceTask successor = task.successor;
			DueTime due = run.due();
			task.successor = null;
			if (task.ended || (successor == null && due == null)) {
				this.data.delete(task);
				return;
			}
			if (successor != null) {
				task.schedule = successor.schedule;
				task.payload = successor.payload;
				task.traceparent = successor.traceparent;
				task.dueAt = successor.dueAt;
			}
			else {
				task.dueAt = Objects.requireNonNull(due).resolve(now());
			}
			task.scheduledAt = task.dueAt;
			startAfresh(task);
			task.error = run.error();
		}));
	}

	@Override
	public List<Reply> retry(List<Retry> retries) {
		return replies(retries, Retry::task, (task, retry) -> takeBack(task, "retry", () -> {
			task.suspect = false;
			task.attempt = retry.attempt();
			task.error = retry.error();
			task.dueAt = after(now(), retry.delay());
		}));
	}

	@Override
	public List<Reply> release(List<TaskRef> tasks) {
		return replies(tasks, Function.identity(), (task, request) -> takeBack(task, "release", () -> {
		}));
	}

	@Override
	public List<Reply> releaseUnstarted(List<TaskRef> tasks) {
		return replies(tasks, Function.identity(), (task, request) -> takeBack(task, "release", () -> {
			if (task.begun) {
				task.deliveries--;
			}
		}));
	}

	private Reply takeBack(ReferenceTask task, String what, Runnable change) {
		if (task.owner != null && !task.ended && this.data.hasOtherPending(task)) {
			this.data.delete(task);
			return Reply.SUPERSEDED;
		}
		return settleOrDelete(task, what, change);
	}

	/**
	 * Deletes the last run of a schedule that was cancelled, instead of a change.
	 */
	private Reply settleOrDelete(ReferenceTask task, String what, Runnable change) {
		return settle(task, what, task.ended ? () -> this.data.delete(task) : change);
	}

	/**
	 * Ends a lease. The task is pending afterwards, unless the change has deleted it or
	 * made it dead.
	 */
	private Reply settle(ReferenceTask task, String what, Runnable change) {
		if (task.owner == null) {
			return what.equals(task.settledBy) ? Reply.DONE : Reply.REFUSED;
		}
		task.state = State.PENDING;
		change.run();
		if (this.data.contains(task)) {
			free(task, what);
			this.data.takeKey(task);
		}
		return Reply.DONE;
	}

	/**
	 * Makes a task belong to no node.
	 */
	private void free(ReferenceTask task, String what) {
		task.owner = null;
		task.begun = false;
		task.settledBy = what;
		this.data.move(task, task.dueAt);
	}

	private static void startAfresh(ReferenceTask task) {
		task.attempt = 1;
		task.deliveries = 0;
		task.lostDeliveries = 0;
		task.suspect = false;
		task.error = null;
	}

	@Override
	public List<Reply> bury(List<Burial> burials) {
		return replies(burials, Burial::task, (task, burial) -> settleOrDelete(task, "bury", () -> {
			task.state = State.DEAD;
			task.error = burial.reason();
			task.diedAt = now();
		}));
	}

	@Override
	public void report(NodeState state) {
		synchronized (this.data) {
			long oldest = now() - NODE_RETENTION.toMillis();
			this.data.reports.values().removeIf((report) -> report.at() < oldest);
			this.data.reports.put(state.nodeId(), new Report(state, now()));
		}
	}

	@Override
	public void forget(String nodeId) {
		synchronized (this.data) {
			this.data.reports.remove(nodeId);
		}
	}

	@Override
	public List<ReportedNode> nodes() {
		synchronized (this.data) {
			long now = now();
			return this.data.reports.values()
				.stream()
				.filter((report) -> report.at() >= now - NODE_RETENTION.toMillis())
				.sorted(Comparator.comparingLong(Report::at).reversed())
				.limit(MAX_NODES)
				.map((report) -> new ReportedNode(report.state(), Duration.ofMillis(Math.max(0, now - report.at()))))
				.toList();
		}
	}

	private <T> List<Reply> replies(List<T> requests, Function<T, TaskRef> ref, Transition<T> transition) {
		return replies(requests, ref, transition, Reply.REFUSED);
	}

	private <T> List<Reply> repliesOrDone(List<T> requests, Function<T, TaskRef> ref, Transition<T> transition) {
		return replies(requests, ref, transition, Reply.DONE);
	}

	private <T> List<Reply> replies(List<T> requests, Function<T, TaskRef> ref, Transition<T> transition,
			Reply ifAbsent) {
		synchronized (this.data) {
			return requests.stream().map((request) -> {
				ReferenceTask task = this.data.tasks.get(ref.apply(request).id());
				if (task == null) {
					return ifAbsent;
				}
				return (task.fence == ref.apply(request).fence()) ? transition.apply(task, request) : Reply.REFUSED;
			}).toList();
		}
	}

	// What applications and operators do

	@Override
	public boolean cancel(TaskId taskId, Kind kind) {
		synchronized (this.data) {
			ReferenceTask task = this.data.byKey(taskId, kind);
			return task != null && cancel(task);
		}
	}

	@Override
	public boolean cancel(String id) {
		synchronized (this.data) {
			ReferenceTask task = this.data.tasks.get(id);
			return task != null && cancel(task);
		}
	}

	private boolean cancel(ReferenceTask task) {
		if (task.schedule != null && DECLARED_KEY.equals(task.key) && !task.ended) {
			this.data.cancelled.add(new TaskId(task.name, task.key));
		}
		if (task.state == State.PENDING) {
			this.data.delete(task);
			return true;
		}
		if (task.state == State.RUNNING && task.schedule != null && !task.ended) {
			task.ended = true;
			this.data.schedules.remove(new TaskId(task.name, task.key));
			return true;
		}
		return false;
	}

	@Override
	public @Nullable Rescheduled reschedule(TaskId taskId, Kind kind, DueTime due, @Nullable LeaseOffer lease) {
		synchronized (this.data) {
			return reschedule(this.data.byKey(taskId, kind), due, lease);
		}
	}

	@Override
	public @Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease) {
		synchronized (this.data) {
			return reschedule(this.data.tasks.get(id), due, lease);
		}
	}

	private @Nullable Rescheduled reschedule(@Nullable ReferenceTask task, DueTime due, @Nullable LeaseOffer lease) {
		if (task == null || task.state != State.PENDING) {
			return null;
		}
		long now = now();
		task.dueAt = due.resolve(task.dueAt, now);
		boolean leased = offer(task, lease, now);
		return new Rescheduled(task.leased(Long.MAX_VALUE), now, leased);
	}

	@Override
	public List<Requeue> requeueAll(List<String> ids) {
		synchronized (this.data) {
			return ids.stream().map(this.data.tasks::get).map((task) -> {
				if (task == null || task.state != State.DEAD) {
					return Requeue.NOT_DEAD;
				}
				if (this.data.hasOtherPending(task)) {
					return Requeue.KEY_PENDING;
				}
				task.state = State.PENDING;
				startAfresh(task);
				task.dueAt = now();
				this.data.takeKey(task);
				offer(task, null, now());
				return Requeue.REQUEUED;
			}).toList();
		}
	}

	@Override
	public int discardAll(List<String> ids) {
		synchronized (this.data) {
			List<ReferenceTask> dead = ids.stream()
				.map(this.data.tasks::get)
				.filter((task) -> task != null && task.state == State.DEAD)
				.toList();
			dead.forEach(this.data::delete);
			return dead.size();
		}
	}

	@Override
	public int discardOlder(Duration age, int limit) {
		synchronized (this.data) {
			long before = now() - age.toMillis();
			return discardAll(tasks(State.DEAD, null).filter((task) -> task.diedAt < before)
				.limit(limit)
				.map((task) -> task.id)
				.toList());
		}
	}

	// Reading

	private Stream<ReferenceTask> tasks(State state, @Nullable String name) {
		return this.data.tasks.values()
			.stream()
			.filter((task) -> task.state == state && (name == null || task.name.equals(name)));
	}

	@Override
	public Optional<StoredTask> find(TaskId taskId, Kind kind) {
		synchronized (this.data) {
			return Optional.ofNullable(this.data.byKey(taskId, kind)).map(ReferenceTask::stored);
		}
	}

	@Override
	public Optional<StoredTask> find(String id) {
		synchronized (this.data) {
			return Optional.ofNullable(this.data.tasks.get(id)).map(ReferenceTask::stored);
		}
	}

	@Override
	public List<StoredTask> pending(PendingQuery query) {
		Comparator<StoredTask.Position> order = Comparator.comparingLong(StoredTask.Position::dueAt)
			.thenComparing(StoredTask.Position::id);
		StoredTask.Position after = query.after();
		synchronized (this.data) {
			return tasks(State.PENDING, query.name()).map(ReferenceTask::stored)
				.filter((task) -> after == null || order.compare(task.position(), after) > 0)
				.sorted(Comparator.comparing(StoredTask::position, order))
				.limit(query.limit())
				.toList();
		}
	}

	@Override
	public List<StoredTask> dead(String name, int limit) {
		synchronized (this.data) {
			return tasks(State.DEAD, name).sorted(Comparator.<ReferenceTask>comparingLong((task) -> -task.diedAt))
				.limit(limit)
				.map(ReferenceTask::stored)
				.toList();
		}
	}

	@Override
	public DeadTasks dead(DeadQuery query) {
		Comparator<DeadTask.Position> byDeath = Comparator.comparingLong(DeadTask.Position::diedAt)
			.thenComparing(DeadTask.Position::id);
		Comparator<DeadTask.Position> order = query.latestFirst() ? byDeath.reversed() : byDeath;
		DeadTask.Position after = query.after();
		synchronized (this.data) {
			List<DeadTask> dead = tasks(State.DEAD, query.name())
				.map((task) -> new DeadTask(task.id, task.diedAt, task.error))
				.filter((task) -> after == null || order.compare(task.position(), after) > 0)
				.sorted(Comparator.comparing(DeadTask::position, order))
				.toList();
			return new DeadTasks(dead.stream().limit(query.limit()).toList(), dead.size() > query.limit());
		}
	}

	@Override
	public Map<String, StoredCounts> counts() {
		synchronized (this.data) {
			long now = now();
			Map<String, StoredCounts> counts = new LinkedHashMap<>();
			this.data.tasks.values().forEach((task) -> counts.merge(task.name, switch (task.state) {
				case PENDING -> new StoredCounts(1, (task.dueAt <= now) ? 1 : 0, 0, 0);
				case RUNNING -> new StoredCounts(0, 0, 1, 0);
				case DEAD -> new StoredCounts(0, 0, 0, 1);
			}, StoredCounts::plus));
			return counts;
		}
	}

	@Override
	public void setPaused(String name, boolean paused) {
		TaskLimits.checkName(name);
		synchronized (this.data) {
			if (paused) {
				this.data.paused.add(name);
			}
			else {
				this.data.paused.remove(name);
			}
		}
	}

	@Override
	public Set<String> pausedNames() {
		synchronized (this.data) {
			return Set.copyOf(this.data.paused);
		}
	}

	@Override
	public Forecast forecast(ForecastQuery query) {
		synchronized (this.data) {
			long from = now();
			Map<String, Forecast.DueCounts> names = new HashMap<>();
			query.pending().keySet().forEach((name) -> {
				long[] counts = new long[query.spans()];
				tasks(State.PENDING, name)
					.mapToLong((task) -> Math.floorDiv(task.dueAt - from, query.span().toMillis()))
					.filter((span) -> span >= 0 && span < counts.length)
					.forEach((span) -> counts[(int) span]++);
				names.put(name, new Forecast.DueCounts(Arrays.stream(counts).boxed().toList(), false));
			});
			return new Forecast(from, names);
		}
	}

	// The store itself

	@Override
	public boolean joinsTransaction() {
		return false;
	}

	@Override
	public long now() {
		return this.clock.getAsLong() + this.offset;
	}

	@Override
	public void setClockOffset(Duration offset) {
		this.offset = offset.toMillis();
	}

	@Override
	public void setClock(@Nullable LongSupplier millis) {
		this.clock = (millis != null) ? millis : System::currentTimeMillis;
	}

	@Override
	public void deleteAll() {
		synchronized (this.data) {
			List.copyOf(this.data.tasks.values()).forEach(this.data::delete);
			this.data.paused.clear();
			this.data.cancelled.clear();
			this.data.reports.clear();
		}
	}

	private static long after(long time, Duration duration) {
		return DueTime.after(duration).resolve(time);
	}

	/**
	 * One change of a task, whose fence the caller of the store knows.
	 */
	private interface Transition<T> {

		Reply apply(ReferenceTask task, T request);

	}

	/**
	 * What a node has reported.
	 *
	 * @param state its state
	 * @param at when it came
	 */
	private record Report(NodeState state, long at) {

	}

	/**
	 * What all nodes share.
	 */
	public static final class Data {

		private final Map<String, ReferenceTask> tasks = new LinkedHashMap<>();

		/** The pending tasks that run once. */
		private final Map<TaskId, ReferenceTask> pendingKeys = new HashMap<>();

		/** The schedules, pending or running. */
		private final Map<TaskId, ReferenceTask> schedules = new HashMap<>();

		/** All tasks but the dead. */
		private final TreeSet<ReferenceTask> byTime = new TreeSet<>(
				Comparator.<ReferenceTask>comparingLong((task) -> task.nextAt).thenComparing((task) -> task.number));

		private final Set<String> paused = new HashSet<>();

		/** The declared schedules that were cancelled since they were last stored. */
		private final Set<TaskId> cancelled = new HashSet<>();

		private final Map<String, Report> reports = new HashMap<>();

		private long lastNumber;

		private long nextNumber() {
			return ++this.lastNumber;
		}

		private ReferenceTask newTask(String id, String name, @Nullable String key, String payload,
				@Nullable String traceparent) {
			return new ReferenceTask(id, name, key, nextNumber(), payload, traceparent);
		}

		private boolean contains(ReferenceTask task) {
			return this.tasks.containsKey(task.id);
		}

		private List<ReferenceTask> until(long time) {
			List<ReferenceTask> tasks = new ArrayList<>();
			for (ReferenceTask task : this.byTime) {
				if (task.nextAt > time) {
					break;
				}
				tasks.add(task);
			}
			return tasks;
		}

		private void add(ReferenceTask task) {
			this.tasks.put(task.id, task);
			takeKey(task);
		}

		private void delete(ReferenceTask task) {
			this.tasks.remove(task.id);
			this.byTime.remove(task);
			giveKeyUp(task);
			if (task.schedule != null) {
				this.schedules.remove(new TaskId(task.name, task.key), task);
			}
		}

		private void move(ReferenceTask task, long nextAt) {
			this.byTime.remove(task);
			task.nextAt = nextAt;
			if (task.state != State.DEAD) {
				this.byTime.add(task);
			}
		}

		private @Nullable ReferenceTask byKey(TaskId taskId, Kind kind) {
			ReferenceTask pending = (kind != Kind.SCHEDULE) ? this.pendingKeys.get(taskId) : null;
			return (pending != null || kind == Kind.ONCE) ? pending : this.schedules.get(taskId);
		}

		private boolean hasOtherPending(ReferenceTask task) {
			if (task.key == null || task.schedule != null) {
				return false;
			}
			ReferenceTask pending = this.pendingKeys.get(new TaskId(task.name, task.key));
			return pending != null && pending != task;
		}

		/**
		 * Makes the key of a task name this task, if it is pending.
		 */
		private void takeKey(ReferenceTask task) {
			if (task.state == State.DEAD) {
				giveKeyUp(task);
			}
			else if (task.key != null) {
				((task.schedule != null) ? this.schedules : this.pendingKeys).put(new TaskId(task.name, task.key),
						task);
			}
		}

		private void giveKeyUp(ReferenceTask task) {
			if (task.key != null) {
				this.pendingKeys.remove(new TaskId(task.name, task.key), task);
			}
		}

	}

}
