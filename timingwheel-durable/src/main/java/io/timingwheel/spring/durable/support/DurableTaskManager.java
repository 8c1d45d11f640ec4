package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.DurableTaskAdmin;
import io.timingwheel.spring.durable.ReportedNode;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.DurableTaskOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.util.Assert;

/**
 * The durable tasks of a store, as this application sees them. Stores, cancels, moves and
 * finds pending tasks of all nodes, and runs those that this application has handlers
 * for. {@link #storedTasks()} has the lists and the counts that operators see, and
 * {@link #deadTasks()} what operators do with dead tasks. Thread-safe.
 *
 * <p>
 * The application can store tasks before {@link #start()}, which begins to run them. If
 * the store cannot be reached, its exception goes to the caller.
 *
 * @since 0.1
 */
public final class DurableTaskManager implements DurableTaskOperations, DurableTaskAdmin {

	private static final DueTime NOW = DueTime.after(Duration.ZERO);

	private static final Object[] NO_ARGUMENTS = {};

	private final DelayedTaskStore store;

	private final DurableHandlerRegistry handlers;

	private final PayloadCodec codec;

	private final DurableNode node;

	private final String nodeId;

	private final Duration reportInterval;

	private final TaskEnqueuer enqueuer;

	private final PendingTaskEditor pendingTasks;

	private final ScheduleEditor schedules;

	private final DeclaredSchedules declaredSchedules;

	private final StoredTaskReader storedTasks;

	private final DeadTaskEditor deadTasks;

	private final @Nullable TaskExecutionInterceptor interceptor;

	private volatile boolean accepting = true;

	/**
	 * Creates a manager that does not run tasks yet.
	 * @param store keeps the tasks
	 * @param settings the settings of this node
	 * @param handlers what this application can run
	 * @param codec turns arguments into payloads and back
	 * @param wheel where tasks wait until they are due
	 * @param tasks counts the tasks by their names
	 * @param handOvers keeps executors from blocking
	 * @param interceptor runs around every body; {@code null} for none
	 */
	public DurableTaskManager(DelayedTaskStore store, DurableSettings settings, DurableHandlerRegistry handlers,
			PayloadCodec codec, TimingWheel wheel, DelayedTaskRegistry tasks, HandOverExecutors handOvers,
			@Nullable TaskExecutionInterceptor interceptor) {
		this(store, settings, handlers, codec, wheel, tasks, handOvers, interceptor, NodeTurns.onThreads());
	}

	/**
	 * Creates a manager that does not run tasks yet.
	 * @param store keeps the tasks
	 * @param settings the settings of this node
	 * @param handlers what this application can run
	 * @param codec turns arguments into payloads and back
	 * @param wheel where tasks wait until they are due
	 * @param tasks counts the tasks by their names
	 * @param handOvers keeps executors from blocking
	 * @param interceptor runs around every body; {@code null} for none
	 * @param turns how the parts of this node get their turns
	 */
	public DurableTaskManager(DelayedTaskStore store, DurableSettings settings, DurableHandlerRegistry handlers,
			PayloadCodec codec, TimingWheel wheel, DelayedTaskRegistry tasks, HandOverExecutors handOvers,
			@Nullable TaskExecutionInterceptor interceptor, NodeTurns turns) {
		this.store = store;
		this.handlers = handlers;
		this.codec = codec;
		this.interceptor = interceptor;
		this.nodeId = settings.nodeId();
		this.reportInterval = NodeReports.interval(settings.pollInterval());
		StoreClock clock = new StoreClock(wheel.timeSource());
		this.node = new DurableNode(store, turns.settings(settings), handlers, codec, wheel, clock, tasks, handOvers,
				interceptor, turns);
		CallerTransaction transaction = new CallerTransaction(store);
		TaskIntake intake = this.node.intake();
		this.enqueuer = new TaskEnqueuer(store, transaction, handlers, tasks, intake, clock, this.node::changed);
		this.pendingTasks = new PendingTaskEditor(store, transaction, handlers, tasks, intake, clock,
				this.node::changed);
		this.schedules = new ScheduleEditor(store, transaction, handlers, tasks, this.node::dueSoon,
				settings.pollInterval());
		this.declaredSchedules = new DeclaredSchedules(turns, this.schedules);
		this.storedTasks = new StoredTaskReader(store, handlers, this.node,
				turns.recentNanos(StoredTaskReader.RECENT_NANOS));
		this.deadTasks = new DeadTaskEditor(store, handlers, this.node::changed);
	}

	/**
	 * Adds a handler, unless there is one for the same method.
	 * @param handler the handler
	 * @return the handler that is registered from now on
	 * @throws UnsupportedArgumentException if one of its arguments, or its name, can
	 * never be stored
	 * @throws IllegalStateException if a name belongs to another method
	 */
	public DurableHandler register(DurableHandler handler) {
		this.codec.checkTypes(handler);
		checkName(handler.name());
		handler.aliases().forEach(this::checkName);
		return this.handlers.register(handler);
	}

	private void checkName(String name) {
		try {
			this.store.checkName(name);
		}
		catch (IllegalArgumentException ex) {
			throw new UnsupportedArgumentException("its tasks cannot be stored: " + ex.getMessage(),
					"choose another name", ex);
		}
	}

	/**
	 * Removes a handler. Its tasks stay in the store, for nodes that have the handler.
	 * @param handler the handler
	 */
	public void unregister(DurableHandler handler) {
		this.handlers.unregister(handler);
	}

	/**
	 * Finds a handler.
	 * @param nameOrAlias the name of its tasks
	 * @return the handler, {@code null} if this application has none
	 */
	public @Nullable DurableHandler handler(String nameOrAlias) {
		return this.handlers.find(nameOrAlias);
	}

	/**
	 * The names of the tasks that this application can run.
	 * @return names and aliases of its handlers, an immutable snapshot
	 */
	public Set<String> handlerNames() {
		return this.handlers.names();
	}

	@Override
	public boolean owns(String name) {
		return this.handlers.find(name) != null;
	}

	/**
	 * Stores a call. If the caller is in a transaction that the store takes no part in,
	 * the call is stored after the commit.
	 * @param handler what is to run
	 * @param key the key, compared by its text; {@code null} for a task without a key
	 * @param ifPending what to do if a task with this key is pending
	 * @param maxWait how long replacements can put the task off, {@code null} for no
	 * limit
	 * @param due when the task is due
	 * @param arguments the arguments of the method
	 * @return the task, or the pending task that it gave way to
	 * @throws DuplicateTaskException if another task is pending and {@code ifPending}
	 * asks for rejection
	 * @throws IllegalArgumentException if the arguments or the key cannot be stored
	 * @throws TaskRejectedException after shutdown
	 */
	public DelayedTask<@Nullable Void> enqueue(DurableHandler handler, @Nullable Object key, IfPending ifPending,
			@Nullable Duration maxWait, DueTime due, @Nullable Object[] arguments) {
		return enqueue(
				submission(handler, (key != null) ? String.valueOf(key) : null, ifPending, maxWait, due, arguments));
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Duration delay, @Nullable Object... arguments) {
		return enqueue(submission(id.name(), id.key(), IfPending.REPLACE, null, DueTime.after(delay), arguments));
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Instant due, @Nullable Object... arguments) {
		return enqueue(submission(id.name(), id.key(), IfPending.REPLACE, null, DueTime.at(due), arguments));
	}

	@Override
	public List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls) {
		return enqueueAll(calls.stream().map(this::submission).toList());
	}

	private DelayedTask<@Nullable Void> enqueue(DurableSubmission submission) {
		return enqueueAll(List.of(submission)).get(0);
	}

	private List<DelayedTask<@Nullable Void>> enqueueAll(List<DurableSubmission> submissions) {
		if (submissions.isEmpty()) {
			return List.of();
		}
		checkAccepting(submissions.get(0).name());
		this.enqueuer.enqueue(submissions);
		return submissions.stream().<DelayedTask<@Nullable Void>>map(DurableSubmission::task).toList();
	}

	private void checkAccepting(String name) {
		if (!this.accepting) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: the application is shutting down".formatted(name));
		}
	}

	@Override
	public DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments) {
		checkAccepting(id.name());
		DurableSubmission submission = submission(id.name(), id.key(), IfPending.REPLACE, null, NOW, arguments);
		this.schedules.recur(submission, schedule);
		return submission.task();
	}

	/**
	 * Declares the schedule of a method without arguments. The schedule is stored when
	 * this node starts, and again with {@link #storeSchedules()}.
	 * @param handler runs the method
	 * @param key the key of the schedule
	 * @param schedule the times
	 * @param initialDelay when the first run is due after the schedule is stored for the
	 * first time, {@code null} for the first time of the schedule
	 */
	public void declare(DurableHandler handler, String key, Schedule schedule, @Nullable Duration initialDelay) {
		Supplier<DurableSubmission> call = () -> submission(handler, key, IfPending.REPLACE, null, NOW, NO_ARGUMENTS);
		this.declaredSchedules.add(call, schedule, initialDelay);
	}

	/**
	 * Stores the declared schedules, unless the store has them already.
	 */
	public void storeSchedules() {
		this.declaredSchedules.store();
	}

	private DurableSubmission submission(DurableCall call) {
		Instant due = call.due();
		// A call has either a due time or a delay.
		DueTime time = (due != null) ? DueTime.at(due) : DueTime.after(Objects.requireNonNull(call.delay()));
		return submission(call.name(), call.key(), call.ifPending(), call.maxWait(), time, call.arguments().toArray());
	}

	private DurableSubmission submission(String name, @Nullable String key, IfPending ifPending,
			@Nullable Duration maxWait, DueTime due, @Nullable Object[] arguments) {
		DurableHandler handler = this.handlers.find(name);
		Assert.isTrue(handler == null || !handler.hasOneSchedule(),
				() -> ("The name \"%s\" belongs to a @Recurring method, which never overlaps itself: it has no other tasks"
						+ " and schedules. To run it at another time, move its next run with reschedule")
					.formatted(name));
		if (handler != null) {
			return submission(handler, key, ifPending, maxWait, due, arguments);
		}
		TaskLimits.checkName(name);
		TaskLimits.checkKey(key);
		return new DurableSubmission(new DurableTaskHandle(this.pendingTasks, name, key, due), null, ifPending, maxWait,
				due, this.codec.encode(name, arguments), traceparent(), arguments);
	}

	private DurableSubmission submission(DurableHandler handler, @Nullable String key, IfPending ifPending,
			@Nullable Duration maxWait, DueTime due, @Nullable Object[] arguments) {
		TaskLimits.checkKey(key);
		return new DurableSubmission(new DurableTaskHandle(this.pendingTasks, handler.name(), key, due), handler,
				ifPending, maxWait, due, this.codec.encode(handler, arguments), traceparent(), arguments);
	}

	private @Nullable String traceparent() {
		return (this.interceptor != null) ? this.interceptor.traceparent() : null;
	}

	@Override
	public boolean cancel(TaskId id) {
		return this.pendingTasks.cancel(id);
	}

	/**
	 * Finds the pending task with a key, for a cancellation later.
	 * @param id its name and key
	 * @return cancels the task that has been found, if it is still pending
	 */
	public Runnable cancellation(TaskId id) {
		return this.pendingTasks.cancellation(id);
	}

	/**
	 * Cancels a pending task.
	 * @param name its name
	 * @param id its id
	 * @return whether it was pending
	 */
	public boolean cancel(String name, String id) {
		return this.pendingTasks.cancel(name, id);
	}

	@Override
	public boolean reschedule(TaskId id, Duration delay) {
		return this.pendingTasks.reschedule(id, delay);
	}

	/**
	 * Moves a pending task.
	 * @param name its name
	 * @param id its id
	 * @param delay how long from now; zero and negative: as soon as possible
	 * @return whether it was pending
	 */
	public boolean reschedule(String name, String id, Duration delay) {
		return this.pendingTasks.reschedule(name, id, delay, false);
	}

	@Override
	public Optional<DelayedTask<?>> find(TaskId id) {
		return this.pendingTasks.find(id).map((task) -> new DurableTaskHandle(this.pendingTasks, task));
	}

	/**
	 * The lists and the counts of the stored tasks.
	 * @return always the same object
	 */
	public StoredTaskReader storedTasks() {
		return this.storedTasks;
	}

	/**
	 * The dead tasks, to requeue, delete and group them.
	 * @return always the same object
	 */
	public DeadTaskEditor deadTasks() {
		return this.deadTasks;
	}

	@Override
	public List<StoredTask> findDead(String name, int limit) {
		return this.storedTasks.dead(name, limit);
	}

	@Override
	public Requeue requeueDead(String id) {
		return this.deadTasks.requeue(id);
	}

	@Override
	public boolean deleteDead(String id) {
		return this.deadTasks.delete(id);
	}

	/**
	 * Tells whether two names belong to the same handler.
	 * @param name a name
	 * @param other another name, or the same
	 * @return whether they are equal or belong to the same handler
	 */
	public boolean isSame(String name, String other) {
		return this.handlers.canonicalName(name).equals(this.handlers.canonicalName(other));
	}

	/**
	 * Begins to run tasks. A second call does nothing.
	 * @throws IllegalStateException if two migrations have the same name
	 */
	public void start() {
		this.codec.checkMigrations(this.handlers);
		this.declaredSchedules.start();
		this.node.start();
	}

	@Override
	public void pause() {
		this.node.pause();
	}

	@Override
	public void resume() {
		this.node.resume();
	}

	@Override
	public void setPaused(String name, boolean paused) {
		this.node.setPaused(this.handlers.allNames(name), paused);
	}

	@Override
	public boolean isPaused(String name) {
		return this.node.isPaused(this.handlers.canonicalName(name));
	}

	/**
	 * Tells whether the policy of a name pauses it on this node.
	 * {@link #setPaused(String, boolean)} does not end this pause.
	 * @param name the name
	 * @return whether the policy says so
	 */
	public boolean isPausedByPolicy(String name) {
		return this.node.isPausedByPolicy(name);
	}

	/**
	 * How often the nodes of the store report, if all have the settings of this node.
	 * @return the longest time between two reports of a node that runs
	 */
	public Duration reportInterval() {
		return this.reportInterval;
	}

	@Override
	public boolean isClaiming() {
		return this.node.isClaiming();
	}

	/**
	 * Ends the claims of this node for good.
	 */
	public void stopClaiming() {
		this.node.stopClaiming();
	}

	/**
	 * Ends the claims, gives back the tasks whose bodies have not begun, and waits for
	 * the bodies that run.
	 * @param period how long to wait at most; bodies that take longer are interrupted,
	 * and their tasks given back
	 * @throws InterruptedException if the thread is interrupted; other nodes run the
	 * tasks that are not settled when their leases have ended
	 */
	public void shutdown(Duration period) throws InterruptedException {
		this.accepting = false;
		this.declaredSchedules.stop();
		this.node.shutdown(period);
	}

	/**
	 * What this node has done since its start.
	 * @return the figures; later reads give later values
	 */
	public NodeFigures figures() {
		return this.node.figures();
	}

	/**
	 * The name of this node in its claims.
	 * @return the id of the node
	 */
	public String nodeId() {
		return this.nodeId;
	}

	/**
	 * What the nodes of the store have reported, this one among them. A node reports
	 * every few seconds. Does not call a store that is known not to answer.
	 * @return the nodes, the one that reported last first; none if the store keeps no
	 * reports, or does not answer
	 */
	public List<ReportedNode> nodes() {
		return storeError().isPresent() ? List.of() : this.store.nodes();
	}

	/**
	 * How many tasks this node holds, waiting and running.
	 * @return the number
	 */
	public int inFlight() {
		return this.node.inFlight();
	}

	/**
	 * The error of this node's calls to the store, or to a part of the store.
	 * @return the latest error, empty if the store answers
	 */
	public Optional<Throwable> storeError() {
		return Optional.ofNullable(this.node.availability().error());
	}

	/**
	 * The parts of the store that do not answer this node, while others do.
	 * @return the parts, empty if the whole store answers or none of it
	 */
	public Set<String> missingStoreParts() {
		return this.node.availability().missingParts();
	}

	/**
	 * Since when the store, or a part of it, does not answer this node.
	 * @return the time by this node's clock, empty if the store answers
	 */
	public Optional<Instant> storeDownSince() {
		return Optional.ofNullable(this.node.availability().downSince());
	}

}
