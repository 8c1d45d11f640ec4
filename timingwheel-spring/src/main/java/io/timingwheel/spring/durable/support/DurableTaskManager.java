package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.DurableTaskOperations;
import io.timingwheel.spring.task.support.HandOverExecutors;
import io.timingwheel.spring.task.support.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * The durable tasks of a store, as this application sees them: storing, cancelling and
 * finding tasks of all nodes, and running those that it has handlers for. The engine
 * behind the template and the annotations. Thread-safe.
 *
 * <p>
 * {@link #start()} begins to run tasks; they can be stored before. What the store throws
 * when it cannot be reached comes through to the caller.
 */
public final class DurableTaskManager implements DurableTaskOperations {

	private final DelayedTaskStore store;

	private final DurableHandlerRegistry handlers;

	private final PayloadCodec codec;

	private final StoreWriter writer;

	private final DurableNode node;

	private final StoredCountsReader counts;

	private volatile boolean accepting = true;

	/**
	 * Creates an engine.
	 * @param store keeps the tasks
	 * @param settings how to deal with them
	 * @param handlers what this application can run
	 * @param codec turns arguments into payloads and back
	 * @param wheel where tasks wait until they are due
	 * @param tasks counts them by their names
	 * @param handOvers keeps executors from blocking
	 * @param interceptor stands around every body; {@code null} for none
	 */
	public DurableTaskManager(DelayedTaskStore store, DurableSettings settings, DurableHandlerRegistry handlers,
			PayloadCodec codec, TimingWheel wheel, DelayedTaskRegistry tasks, HandOverExecutors handOvers,
			@Nullable TaskExecutionInterceptor interceptor) {
		this.store = store;
		this.handlers = handlers;
		this.codec = codec;
		this.node = new DurableNode(store, settings, handlers, codec, wheel, tasks, handOvers, interceptor);
		this.writer = new StoreWriter(store, this.node, handlers, tasks);
		this.counts = new StoredCountsReader(store, () -> this.node.availability().error() != null);
	}

	/**
	 * Begins to run tasks. A second call does nothing.
	 */
	public void start() {
		this.node.start();
	}

	/**
	 * Adds a handler, unless there is one of the same method already.
	 * @param handler the handler
	 * @return the handler that is there from now on
	 * @throws UnsupportedArgumentException if one of its arguments can never be stored
	 * @throws IllegalStateException if a name belongs to another method
	 */
	public DurableHandler register(DurableHandler handler) {
		this.codec.checkTypes(handler);
		return this.handlers.register(handler);
	}

	/**
	 * Finds a handler.
	 * @param nameOrAlias the name of its tasks
	 * @return the handler, {@code null} if this application has none
	 */
	public @Nullable DurableHandler handler(String nameOrAlias) {
		return this.handlers.find(nameOrAlias);
	}

	@Override
	public boolean owns(String name) {
		return this.handlers.find(name) != null;
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Duration delay, @Nullable Object... arguments) {
		return enqueue(id, DueTime.after(delay), arguments);
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Instant due, @Nullable Object... arguments) {
		return enqueue(id, DueTime.at(due), arguments);
	}

	private DelayedTask<@Nullable Void> enqueue(TaskId id, DueTime due, @Nullable Object[] arguments) {
		return put(request(id.name(), id.key(), due, arguments));
	}

	@Override
	public List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls) {
		List<StoreRequest> requests = calls.stream().map(this::request).toList();
		if (!requests.isEmpty()) {
			checkAccepting(requests.get(0).task().name());
			this.writer.putAll(requests);
		}
		return requests.stream().<DelayedTask<@Nullable Void>>map(StoreRequest::task).toList();
	}

	private StoreRequest request(DurableCall call) {
		Instant due = call.due();
		// It has one of them.
		DueTime time = (due != null) ? DueTime.at(due) : DueTime.after(Objects.requireNonNull(call.delay()));
		return request(call.name(), call.key(), time, call.arguments().toArray());
	}

	/**
	 * A call of whatever has the name, here or elsewhere.
	 */
	private StoreRequest request(String name, @Nullable String key, DueTime due, @Nullable Object[] arguments) {
		DurableHandler handler = this.handlers.find(name);
		if (handler != null) {
			return request(handler, key, IfPending.REPLACE, due, arguments);
		}
		TaskLimits.checkName(name);
		return request(name, null, key, IfPending.REPLACE, due, this.codec.encode(name, arguments), arguments);
	}

	private StoreRequest request(DurableHandler handler, @Nullable String key, IfPending ifPending, DueTime due,
			@Nullable Object[] arguments) {
		return request(handler.name(), handler, key, ifPending, due, this.codec.encode(handler, arguments), arguments);
	}

	private StoreRequest request(String name, @Nullable DurableHandler handler, @Nullable String key,
			IfPending ifPending, DueTime due, String payload, @Nullable Object[] arguments) {
		TaskLimits.checkKey(key);
		DurableTaskHandle task = new DurableTaskHandle(this, name, key, DurableIds.next(), due);
		return new StoreRequest(task, handler, ifPending, due, payload, arguments);
	}

	/**
	 * Stores a call. In a transaction that the store does not take part in, it is stored
	 * once that has committed.
	 * @param handler what is to run
	 * @param key the key, which counts by its text; {@code null} for a task without one
	 * @param ifPending what to do if a task with this key is pending
	 * @param due when it is due
	 * @param arguments what the method is given
	 * @return the task, or the one that it was kept back for
	 * @throws DuplicateTaskException if another is pending and this is to be rejected
	 * @throws IllegalArgumentException if the arguments or the key cannot be stored
	 * @throws TaskRejectedException after shutdown
	 */
	public DelayedTask<@Nullable Void> enqueue(DurableHandler handler, @Nullable Object key, IfPending ifPending,
			DueTime due, @Nullable Object[] arguments) {
		return put(request(handler, (key != null) ? String.valueOf(key) : null, ifPending, due, arguments));
	}

	private DelayedTask<@Nullable Void> put(StoreRequest request) {
		checkAccepting(request.task().name());
		this.writer.put(request);
		return request.task();
	}

	private void checkAccepting(String name) {
		if (!this.accepting) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: the application is shutting down".formatted(name));
		}
	}

	@Override
	public boolean cancel(TaskId id) {
		return this.writer.cancel(id);
	}

	/**
	 * Calls off a pending task.
	 * @param name its name
	 * @param id its id
	 * @return whether it was pending
	 */
	public boolean cancel(String name, String id) {
		return this.writer.cancel(name, id);
	}

	@Override
	public boolean reschedule(TaskId id, Duration delay) {
		return this.writer.reschedule(id, delay);
	}

	/**
	 * Undoes what a transaction that the store takes part in undoes.
	 */
	void onRollback(Runnable action) {
		this.writer.onRollback(action);
	}

	boolean reschedule(String name, String id, Duration delay) {
		return this.writer.reschedule(name, id, delay);
	}

	@Override
	public Optional<DelayedTask<?>> find(TaskId id) {
		return this.writer.findPending(id).map((task) -> new DurableTaskHandle(this, task));
	}

	/**
	 * Finds a task, pending or not.
	 * @param id its id
	 * @return the task
	 */
	public Optional<StoredTask> find(String id) {
		return this.store.find(id);
	}

	/**
	 * The pending tasks of a name that are due first.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, the next one first
	 */
	public List<StoredTask> pending(String name, int limit) {
		return merged(name, limit, Comparator.comparing(StoredTask::dueAt), this.store::pending);
	}

	/**
	 * The dead tasks of a name.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, that which died last first
	 */
	public List<StoredTask> dead(String name, int limit) {
		return merged(name, limit, Comparator.comparing(StoredTask::dueAt).reversed(), this.store::dead);
	}

	/**
	 * Those under the name and under its earlier ones.
	 */
	private List<StoredTask> merged(String name, int limit, Comparator<StoredTask> order,
			BiFunction<String, Integer, List<StoredTask>> read) {
		DurableHandler handler = this.handlers.find(name);
		if (handler == null || handler.aliases().isEmpty()) {
			return read.apply(name, limit);
		}
		return Stream.concat(Stream.of(handler.name()), handler.aliases().stream())
			.flatMap((each) -> read.apply(each, limit).stream())
			.sorted(order)
			.limit(limit)
			.toList();
	}

	/**
	 * Whether two names are those of one handler.
	 * @param name a name
	 * @param other another, or the same
	 * @return whether tasks of both are tasks of one
	 */
	public boolean isSame(String name, String other) {
		DurableHandler handler = this.handlers.find(name);
		return name.equals(other) || (handler != null && handler == this.handlers.find(other));
	}

	/**
	 * How many tasks of each name are stored, over all nodes. While the store is known
	 * not to be reached, the latest figures.
	 * @return the figures by name, of all names that have a task or a handler here
	 */
	public Map<String, StoredCounts> counts() {
		return this.counts.read(this.handlers);
	}

	/**
	 * The figures of {@link #counts()} as they were a short time ago, without waiting for
	 * the store when it is not to be had.
	 * @return the figures by name, empty if they could never be had
	 */
	public Map<String, StoredCounts> recentCounts() {
		return this.counts.recent(this.handlers);
	}

	/**
	 * How many pending tasks there are that this node has no handler for.
	 * @return the number, a short time ago
	 */
	public long unknownCount() {
		Set<String> known = this.handlers.names();
		return recentCounts().entrySet()
			.stream()
			.filter((entry) -> !known.contains(entry.getKey()))
			.mapToLong((entry) -> entry.getValue().pending())
			.sum();
	}

	/**
	 * Makes a dead task pending again.
	 * @param id its id
	 * @return what has become of it
	 */
	public Requeue requeue(String id) {
		return this.store.requeue(id);
	}

	/**
	 * Deletes a dead task.
	 * @param id its id
	 * @return whether it was dead
	 */
	public boolean discard(String id) {
		return this.store.discard(id);
	}

	/**
	 * Ends the claims of this node, and gives back what has not begun, until
	 * {@link #resume()}. What runs goes on.
	 */
	public void pause() {
		this.node.pause();
	}

	/**
	 * Ends a {@link #pause()}.
	 */
	public void resume() {
		this.node.resume();
	}

	/**
	 * Whether this node claims tasks.
	 * @return {@code false} while paused and once it shuts down
	 */
	public boolean isClaiming() {
		return this.node.isClaiming();
	}

	/**
	 * What this node has done.
	 * @return the figures
	 */
	public NodeFigures figures() {
		return this.node.figures();
	}

	/**
	 * How many tasks this node holds, waiting and running.
	 * @return the number
	 */
	public int inFlight() {
		return this.node.inFlight();
	}

	/**
	 * Whether all of the store can be reached, by the latest requests of this node.
	 * @return what the latest request met, empty if all is well
	 */
	public Optional<Throwable> storeError() {
		return Optional.ofNullable(this.node.availability().error());
	}

	/**
	 * What part of the store cannot be reached, by the latest requests of this node,
	 * while the rest can.
	 * @return the part, empty if all is well or all is gone
	 */
	public Set<String> missingStoreParts() {
		return this.node.availability().missingParts();
	}

	/**
	 * Since when the store, or a part of it, cannot be reached.
	 * @return the time by this node's clock, empty if all is well
	 */
	public Optional<Instant> storeDownSince() {
		return Optional.ofNullable(this.node.availability().downSince());
	}

	/**
	 * Ends the claims for good.
	 */
	public void stopClaiming() {
		this.node.stopClaiming();
	}

	/**
	 * Ends everything: gives back what has not begun, and waits for the bodies that run.
	 * @param period how long to wait at most; bodies that take longer are interrupted,
	 * and their tasks given back
	 * @throws InterruptedException if the thread was interrupted; other nodes run what
	 * was not settled once its leases are over
	 */
	public void shutdown(Duration period) throws InterruptedException {
		this.accepting = false;
		this.node.shutdown(period);
	}

}
