package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DeadQuery;
import io.timingwheel.spring.durable.DeadTask;
import io.timingwheel.spring.durable.DeadTasks;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.Forecast;
import io.timingwheel.spring.durable.ForecastQuery;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.NodeState;
import io.timingwheel.spring.durable.PartialOutage;
import io.timingwheel.spring.durable.PartlyStoredException;
import io.timingwheel.spring.durable.PendingQuery;
import io.timingwheel.spring.durable.ReportedNode;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A store in memory, for one JVM and one node, to test the callers of a store. If the
 * store joins transactions, a rollback undoes each enqueue and cancel of the transaction.
 */
public final class MemoryStore implements DelayedTaskStore {

	private final Map<String, Task> tasks = new LinkedHashMap<>();

	private final boolean joining;

	private final Set<String> refused = new HashSet<>();

	private final List<List<String>> countedNames = new CopyOnWriteArrayList<>();

	private final AtomicInteger countsOfAllNames = new AtomicInteger();

	private final Set<String> pausedNames = ConcurrentHashMap.newKeySet();

	private static final Comparator<Task> BY_DEATH = Comparator.<Task>comparingLong((task) -> task.diedAt)
		.thenComparing((task) -> task.id);

	private final Map<String, NodeState> reports = new ConcurrentHashMap<>();

	private long offset;

	private volatile PartialOutage partialOutage;

	public MemoryStore() {
		this(false);
	}

	public MemoryStore(boolean joining) {
		this.joining = joining;
	}

	/**
	 * Makes a part of the store unavailable, or available again ({@code null}).
	 */
	public void partialOutage(PartialOutage outage) {
		this.partialOutage = outage;
	}

	@Override
	public PartialOutage partialOutage() {
		return this.partialOutage;
	}

	/**
	 * Makes the store refuse to store tasks with these keys, and to cancel tasks with
	 * these names.
	 */
	public synchronized void refuse(String... keysAndNames) {
		this.refused.addAll(List.of(keysAndNames));
	}

	/**
	 * Stores a task as another node would.
	 */
	public synchronized void insert(String name, String key, String payload) {
		enqueueOne(new NewTask(UUID.randomUUID().toString(), name, key, payload, new DueTime(0, false),
				IfPending.REPLACE, null));
	}

	/**
	 * The payloads of the tasks of a name.
	 */
	public synchronized List<String> payloads(String name) {
		return this.tasks.values()
			.stream()
			.filter((task) -> task.name.equals(name))
			.map((task) -> task.payload)
			.toList();
	}

	@Override
	public boolean joinsTransaction() {
		return this.joining && TransactionSynchronizationManager.isActualTransactionActive();
	}

	private Enqueued enqueueOne(NewTask request) {
		Optional<Task> pending = pendingTask(request.name(), request.key());
		if (pending.isPresent() && !request.replaces()) {
			return new Enqueued(Enqueued.Outcome.PENDING, pending.get().id, 0, pending.get().dueAt, now(), false);
		}
		pending.ifPresent(this::remove);
		Task task = new Task(request);
		Long firstAt = pending.isPresent() ? pending.get().firstAt : null;
		task.firstAt = (firstAt == null && request.maxWait() != null) ? Long.valueOf(now()) : firstAt;
		task.dueAt = request.dueAt(now(), pending.map((earlier) -> earlier.dueAt).orElse(null),
				(task.firstAt != null) ? task.firstAt : now());
		task.nextAt = task.dueAt;
		this.tasks.put(task.id, task);
		undoOnRollback(() -> this.tasks.remove(task.id));
		return new Enqueued(pending.isPresent() ? Enqueued.Outcome.REPLACED : Enqueued.Outcome.INSERTED, task.id,
				task.fence, task.dueAt, now(), false);
	}

	/**
	 * Stores tasks like a store with partitions when some partitions do not answer.
	 */
	@Override
	public synchronized List<Enqueued> enqueueAll(List<NewTask> requests) {
		RuntimeException failure = new IllegalStateException("refused");
		List<Enqueued> enqueued = new ArrayList<>();
		for (NewTask request : requests) {
			enqueued.add(this.refused.contains(request.key()) ? null : enqueueOne(request));
		}
		if (enqueued.stream().allMatch(Objects::isNull) && !requests.isEmpty()) {
			throw failure;
		}
		if (enqueued.contains(null)) {
			throw new PartlyStoredException(enqueued, failure);
		}
		return enqueued;
	}

	@Override
	public synchronized boolean cancel(TaskId taskId, Kind kind) {
		if (this.refused.contains(taskId.name())) {
			throw new IllegalStateException("refused");
		}
		Optional<Task> pending = pendingTask(taskId, kind);
		pending.ifPresent(this::remove);
		return pending.isPresent();
	}

	@Override
	public synchronized boolean cancel(String id) {
		Task task = this.tasks.get(id);
		if (task == null || task.state != StoredTask.State.PENDING) {
			return false;
		}
		remove(task);
		return true;
	}

	@Override
	public synchronized Rescheduled reschedule(TaskId taskId, Kind kind, DueTime due, LeaseOffer lease) {
		return pendingTask(taskId, kind).map((task) -> reschedule(task.id, due, lease)).orElse(null);
	}

	@Override
	public synchronized Rescheduled reschedule(String id, DueTime due, LeaseOffer lease) {
		Task task = this.tasks.get(id);
		if (task == null || task.state != StoredTask.State.PENDING) {
			return null;
		}
		task.dueAt = due.resolve(task.dueAt, now());
		task.nextAt = task.dueAt;
		task.owner = null;
		task.fence++;
		return new Rescheduled(task.leased(), now(), false);
	}

	@Override
	public synchronized Claimed claim(ClaimRequest request) {
		long now = now();
		List<LeasedTask> claimed = new ArrayList<>();
		this.tasks.values()
			.stream()
			.filter((task) -> request.names().containsKey(task.name) && task.state != StoredTask.State.DEAD)
			.filter((task) -> task.nextAt <= now
					|| (task.owner == null && task.nextAt <= now + request.lookAhead().toMillis()))
			.sorted(Comparator.comparingLong((task) -> task.nextAt))
			.limit(request.limit())
			.forEach((task) -> {
				task.owner = request.owner();
				task.fence++;
				task.nextAt = Math.max(task.dueAt, now) + request.lease().toMillis();
				if (task.dueAt <= now) {
					task.begin();
				}
				claimed.add(task.leased());
			});
		long next = this.tasks.values()
			.stream()
			.filter((task) -> request.names().containsKey(task.name))
			.mapToLong((task) -> task.nextAt)
			.min()
			.orElse(Long.MAX_VALUE);
		return new Claimed(claimed, now, next);
	}

	@Override
	public synchronized List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return reply(tasks.stream(), (task) -> {
			task.begin();
			task.nextAt = now() + lease.toMillis();
		});
	}

	@Override
	public synchronized List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return reply(tasks.stream(), (task) -> task.nextAt = now() + lease.toMillis());
	}

	@Override
	public synchronized List<Reply> acknowledge(List<TaskRef> tasks) {
		return reply(tasks.stream(), (task) -> this.tasks.remove(task.id));
	}

	@Override
	public synchronized List<Reply> retry(List<Retry> retries) {
		return retries.stream().map((retry) -> reply(retry.task(), (task) -> {
			task.reset();
			task.attempt = retry.attempt();
			task.error = retry.error();
			task.dueAt = now() + retry.delay().toMillis();
			task.nextAt = task.dueAt;
		})).toList();
	}

	@Override
	public synchronized List<Reply> release(List<TaskRef> tasks) {
		return reply(tasks.stream(), (task) -> {
			task.reset();
			task.nextAt = task.dueAt;
		});
	}

	@Override
	public synchronized List<Reply> bury(List<Burial> burials) {
		return burials.stream().map((burial) -> reply(burial.task(), (task) -> {
			task.state = StoredTask.State.DEAD;
			task.error = burial.reason();
			task.diedAt = now();
		})).toList();
	}

	@Override
	public synchronized Optional<StoredTask> find(TaskId taskId, Kind kind) {
		return pendingTask(taskId, kind).map(Task::stored);
	}

	@Override
	public synchronized Optional<StoredTask> find(String id) {
		return Optional.ofNullable(this.tasks.get(id)).map(Task::stored);
	}

	@Override
	public synchronized List<StoredTask> pending(PendingQuery query) {
		Comparator<StoredTask> byDue = Comparator.comparingLong(StoredTask::dueAt).thenComparing(StoredTask::id);
		StoredTask.Position after = query.after();
		return this.tasks.values()
			.stream()
			.filter((task) -> task.name.equals(query.name()) && task.state == StoredTask.State.PENDING)
			.map(Task::stored)
			.filter((task) -> after == null || task.dueAt() > after.dueAt()
					|| (task.dueAt() == after.dueAt() && task.id().compareTo(after.id()) > 0))
			.sorted(byDue)
			.limit(query.limit())
			.toList();
	}

	@Override
	public List<StoredTask> dead(String name, int limit) {
		return this.tasks.values()
			.stream()
			.filter((task) -> task.name.equals(name) && task.state == StoredTask.State.DEAD)
			.sorted(BY_DEATH.reversed())
			.limit(limit)
			.map(Task::stored)
			.toList();
	}

	@Override
	public synchronized Map<String, StoredCounts> counts() {
		this.countsOfAllNames.incrementAndGet();
		return countAll();
	}

	private Map<String, StoredCounts> countAll() {
		Map<String, StoredCounts> counts = new LinkedHashMap<>();
		this.tasks.values().forEach((task) -> counts.merge(task.name, switch (task.state) {
			case PENDING -> new StoredCounts(1, (task.dueAt <= now()) ? 1 : 0, 0, 0);
			case RUNNING -> new StoredCounts(0, 0, 1, 0);
			case DEAD -> new StoredCounts(0, 0, 0, 1);
		}, StoredCounts::plus));
		return counts;
	}

	@Override
	public synchronized Map<String, StoredCounts> counts(Collection<String> names) {
		this.countedNames.add(List.copyOf(names));
		Map<String, StoredCounts> counts = countAll();
		counts.keySet().retainAll(names);
		return counts;
	}

	/**
	 * How often the tasks of all names were counted.
	 */
	public int countsOfAllNames() {
		return this.countsOfAllNames.get();
	}

	/**
	 * The names that were counted without the others, by call.
	 */
	public List<List<String>> countedNames() {
		return this.countedNames;
	}

	@Override
	public void report(NodeState state) {
		this.reports.put(state.nodeId(), state);
	}

	@Override
	public void forget(String nodeId) {
		this.reports.remove(nodeId);
	}

	@Override
	public List<ReportedNode> nodes() {
		return this.reports.values().stream().map((state) -> new ReportedNode(state, Duration.ofSeconds(2))).toList();
	}

	@Override
	public synchronized Forecast forecast(ForecastQuery query) {
		long from = now();
		Map<String, Forecast.DueCounts> names = new LinkedHashMap<>();
		query.pending().keySet().forEach((name) -> {
			long[] counts = new long[query.spans()];
			this.tasks.values()
				.stream()
				.filter((task) -> task.name.equals(name) && task.state == StoredTask.State.PENDING)
				.mapToLong((task) -> Math.floorDiv(task.dueAt - from, query.span().toMillis()))
				.filter((span) -> span >= 0 && span < counts.length)
				.forEach((span) -> counts[(int) span]++);
			names.put(name, new Forecast.DueCounts(Arrays.stream(counts).boxed().toList(), false));
		});
		return new Forecast(from, names);
	}

	@Override
	public void setPaused(String name, boolean paused) {
		if (paused) {
			this.pausedNames.add(name);
		}
		else {
			this.pausedNames.remove(name);
		}
	}

	@Override
	public Set<String> pausedNames() {
		return Set.copyOf(this.pausedNames);
	}

	@Override
	public DeadTasks dead(DeadQuery query) {
		List<DeadTask> dead = dead((task) -> task.name.equals(query.name()),
				query.latestFirst() ? BY_DEATH.reversed() : BY_DEATH);
		Comparator<DeadTask.Position> position = Comparator.comparingLong(DeadTask.Position::diedAt)
			.thenComparing(DeadTask.Position::id);
		Comparator<DeadTask.Position> order = query.latestFirst() ? position.reversed() : position;
		DeadTask.Position after = query.after();
		int from = (after == null) ? 0
				: (int) dead.stream().filter((task) -> order.compare(task.position(), after) <= 0).count();
		int to = Math.min(dead.size(), from + query.limit());
		return new DeadTasks(dead.subList(from, to), to < dead.size());
	}

	private synchronized List<DeadTask> dead(Predicate<Task> filter, Comparator<Task> order) {
		return this.tasks.values()
			.stream()
			.filter((task) -> task.state == StoredTask.State.DEAD && filter.test(task))
			.sorted(order)
			.map((task) -> new DeadTask(task.id, task.diedAt, task.error))
			.toList();
	}

	@Override
	public synchronized List<Requeue> requeueAll(List<String> ids) {
		return ids.stream().map(this::requeueOne).toList();
	}

	private Requeue requeueOne(String id) {
		Task task = this.tasks.get(id);
		if (task == null || task.state != StoredTask.State.DEAD) {
			return Requeue.NOT_DEAD;
		}
		if (pendingTask(task.name, task.key).isPresent()) {
			return Requeue.KEY_PENDING;
		}
		task.reset();
		task.attempt = 1;
		task.dueAt = now();
		task.nextAt = task.dueAt;
		return Requeue.REQUEUED;
	}

	@Override
	public synchronized int discardAll(List<String> ids) {
		return (int) ids.stream()
			.map(this.tasks::get)
			.filter((task) -> task != null && task.state == StoredTask.State.DEAD && this.tasks.remove(task.id, task))
			.count();
	}

	@Override
	public int discardOlder(Duration age, int limit) {
		long before = now() - age.toMillis();
		return discardAll(dead((task) -> task.diedAt < before, Comparator.comparingLong((task) -> task.diedAt)).stream()
			.limit(limit)
			.map(DeadTask::id)
			.toList());
	}

	@Override
	public long now() {
		return System.currentTimeMillis() + this.offset;
	}

	@Override
	public void setClockOffset(Duration offset) {
		this.offset = offset.toMillis();
	}

	private synchronized List<StoredTask> all(Predicate<Task> filter, int limit) {
		return this.tasks.values().stream().filter(filter).limit(limit).map(Task::stored).toList();
	}

	/**
	 * This store has no schedules.
	 */
	private Optional<Task> pendingTask(TaskId taskId, Kind kind) {
		return (kind != Kind.SCHEDULE) ? pendingTask(taskId.name(), taskId.key()) : Optional.empty();
	}

	private Optional<Task> pendingTask(String name, String key) {
		return this.tasks.values()
			.stream()
			.filter((task) -> key != null && key.equals(task.key) && task.name.equals(name)
					&& task.state == StoredTask.State.PENDING)
			.findFirst();
	}

	private void remove(Task task) {
		this.tasks.remove(task.id);
		undoOnRollback(() -> this.tasks.put(task.id, task));
	}

	private void undoOnRollback(Runnable undo) {
		if (joinsTransaction()) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCompletion(int status) {
					if (status != STATUS_COMMITTED) {
						synchronized (MemoryStore.this) {
							undo.run();
						}
					}
				}
			});
		}
	}

	private List<Reply> reply(Stream<TaskRef> refs, java.util.function.Consumer<Task> action) {
		return refs.map((ref) -> reply(ref, action)).toList();
	}

	private Reply reply(TaskRef ref, java.util.function.Consumer<Task> action) {
		Task task = this.tasks.get(ref.id());
		if (task == null || task.fence != ref.fence()) {
			return Reply.REFUSED;
		}
		action.accept(task);
		return Reply.DONE;
	}

	private static final class Task {

		private final String id;

		private final String name;

		private final String key;

		private final String payload;

		private final String traceparent;

		private StoredTask.State state = StoredTask.State.PENDING;

		private Long firstAt;

		private String owner;

		private long fence = 1;

		private long dueAt;

		private long nextAt;

		private int attempt = 1;

		private int deliveries;

		private String error;

		private long diedAt;

		Task(NewTask task) {
			this.id = task.id();
			this.name = task.name();
			this.key = task.key();
			this.payload = task.payload();
			this.traceparent = task.traceparent();
		}

		void begin() {
			if (this.state == StoredTask.State.PENDING) {
				this.state = StoredTask.State.RUNNING;
				this.deliveries++;
			}
		}

		void reset() {
			this.state = StoredTask.State.PENDING;
			this.owner = null;
			this.fence++;
		}

		LeasedTask leased() {
			return new LeasedTask(this.id, this.fence, this.name, this.key, this.payload, this.traceparent, this.dueAt,
					this.state == StoredTask.State.RUNNING, this.attempt, this.deliveries, 0, false);
		}

		StoredTask stored() {
			return new StoredTask(this.id, this.name, this.key, this.dueAt, this.state, this.attempt, this.deliveries,
					this.error, null, (this.state == StoredTask.State.DEAD) ? this.diedAt : null);
		}

	}

}
