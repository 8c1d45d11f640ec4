package io.timingwheel.spring.task.support;

import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.timingwheel.TimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskRejectedException;

/**
 * The delayed tasks of one wheel: scheduling them, finding them, and their figures. The
 * engine behind the template and the annotations; applications use
 * {@link DelayedTaskOperations}. Thread-safe.
 */
public final class DelayedTaskRegistry {

	/** The name of tasks that were given none. */
	public static final String UNNAMED = "unnamed";

	private final TimingWheel wheel;

	private final TaskClock clock;

	private final HandOverExecutors handOverExecutors;

	private final @Nullable TaskDecorator decorator;

	private final @Nullable TaskExecutionInterceptor interceptor;

	private final TaskIds ids = new TaskIds();

	private final TaskNames names = new TaskNames(this);

	private final TaskShutdown shutdown = new TaskShutdown(this);

	/**
	 * Creates an engine.
	 * @param wheel the wheel
	 * @param timeSource the clock of the wheel
	 * @param clock the wall clock
	 * @param handOverExecutors keeps executors from blocking the wheel
	 * @param decorator carries context from the thread that schedules a task to its body;
	 * {@code null} for none
	 * @param interceptor stands around every body; {@code null} for none
	 */
	public DelayedTaskRegistry(TimingWheel wheel, TimeSource timeSource, Clock clock,
			HandOverExecutors handOverExecutors, @Nullable TaskDecorator decorator,
			@Nullable TaskExecutionInterceptor interceptor) {
		this.wheel = wheel;
		this.clock = new TaskClock(timeSource, clock);
		this.handOverExecutors = handOverExecutors;
		this.decorator = decorator;
		this.interceptor = interceptor;
	}

	/**
	 * Makes a name known before its first task.
	 * @param name the name
	 */
	public void declare(String name) {
		this.names.declare(name);
	}

	/**
	 * Counts tasks that are kept elsewhere.
	 * @param name their name, known from now on
	 * @return where to count them
	 */
	public TaskRecorder recorder(String name) {
		return this.names.register(name);
	}

	/**
	 * Whether a name was declared or scheduled under here.
	 * @param name the name
	 * @return whether it is known
	 */
	public boolean isKnown(String name) {
		return this.names.isKnown(name);
	}

	/**
	 * Whether a task with a key is pending.
	 * @param taskId its name and key
	 * @return whether there is one
	 */
	public boolean isPending(TaskId taskId) {
		NamedTasks tasks = this.names.get(taskId.name());
		return tasks.pending().containsKey(slot(tasks, taskId));
	}

	/**
	 * Says what some tasks have in common.
	 * @param <P> what each task is given
	 * @param name the tasks' name
	 * @param body how to run a task
	 * @param executor where to run it; asked whenever it is needed
	 * @param expireAfter how late a task may start, {@code null} for no limit
	 * @return the definition
	 */
	public <P> TaskDefinition<P> define(String name, TaskBody<P> body, Supplier<? extends Executor> executor,
			@Nullable Duration expireAfter) {
		return new TaskDefinition<>(name, this.names.declare(name), body, executor, expireAfter);
	}

	/**
	 * Prepares a task, and captures the context of the current thread for it.
	 * @param <P> what the task is given
	 * @param definition what it has in common with others
	 * @param key the key, which counts by its text; {@code null} for a task without one
	 * @param ifPending what to do if a task with this key is pending
	 * @param payload what the task is given
	 * @param givesResult whether somebody is going to see the result
	 * @return what is to be scheduled
	 */
	public <P> TaskSubmission submission(TaskDefinition<P> definition, @Nullable Object key, IfPending ifPending,
			P payload, boolean givesResult) {
		return new TaskSubmission(definition, key, ifPending, capture(definition, payload), givesResult,
				this.ids.next());
	}

	/**
	 * Prepares a periodic task.
	 */
	<P> TaskSubmission repetition(TaskDefinition<P> definition, @Nullable Object key, IfPending ifPending, P payload,
			long periodNanos, boolean fixedRate) {
		Object repetition = new Repetition(capture(definition, payload), periodNanos, fixedRate);
		return new TaskSubmission(definition, key, ifPending, repetition, true, this.ids.next());
	}

	private Object capture(TaskDefinition<?> definition, Object payload) {
		Object captured = (this.interceptor != null) ? this.interceptor.capture(definition.name()) : null;
		return (captured != null || this.decorator != null) ? new CapturedCall(payload, captured, this.decorator)
				: payload;
	}

	/**
	 * Calls off the pending task with a key.
	 * @param taskId its name and key
	 * @return whether there was one
	 */
	public boolean cancel(TaskId taskId) {
		NamedTasks tasks = this.names.get(taskId.name());
		return tasks.cancel(slot(tasks, taskId));
	}

	/**
	 * Calls off a pending task.
	 * @param name its name
	 * @param keyOrId its key or, if no task has this key, its id
	 * @return whether there was one
	 */
	public boolean cancel(String name, String keyOrId) {
		NamedTasks tasks = this.names.get(name);
		if (tasks.cancel(tasks.slot(name, TaskKeys.of(keyOrId)))) {
			return true;
		}
		long sequence = this.ids.parse(keyOrId);
		Object slot = locate(tasks, name, sequence);
		return slot != null && tasks.cancel(slot, (task) -> task.sequence() == sequence);
	}

	/**
	 * Moves the pending task with a key.
	 * @param taskId its name and key
	 * @param delay how long from now
	 * @return whether there was one
	 * @throws TaskRejectedException if it waits for its executor already and too many
	 * tasks are pending; it stays as it is then
	 */
	public boolean reschedule(TaskId taskId, Duration delay) {
		NamedTasks tasks = this.names.get(taskId.name());
		return tasks.reschedule(slot(tasks, taskId), null, this.clock.after(delay));
	}

	/**
	 * Finds the pending task with a key.
	 * @param taskId its name and key
	 * @return its handle
	 */
	public Optional<DelayedTask<?>> find(TaskId taskId) {
		NamedTasks tasks = this.names.get(taskId.name());
		TaskHolder holder = new TaskHolder();
		tasks.pending().computeIfPresent(slot(tasks, taskId), holder::take);
		return Optional.ofNullable(holder.task);
	}

	/**
	 * Finds a pending task without touching it.
	 * @param name its name
	 * @param keyOrId its key or, if no task has this key, its id
	 * @return the task
	 */
	public Optional<PendingTaskSnapshot> find(String name, String keyOrId) {
		NamedTasks tasks = this.names.get(name);
		PendingTask task = tasks.pending().get(tasks.slot(name, TaskKeys.of(keyOrId)));
		if (task == null) {
			Object slot = locate(tasks, name, this.ids.parse(keyOrId));
			task = (slot != null) ? tasks.pending().get(slot) : null;
		}
		return Optional.ofNullable(task).map(this::describe);
	}

	/**
	 * The pending tasks of a name that are due first.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, the next one first
	 */
	public List<PendingTaskSnapshot> pending(String name, int limit) {
		Comparator<PendingTaskSnapshot> byDue = Comparator.comparing(PendingTaskSnapshot::dueAt)
			.thenComparing(PendingTaskSnapshot::id);
		PriorityQueue<PendingTaskSnapshot> first = new PriorityQueue<>(byDue.reversed());
		NamedTasks tasks = this.names.get(name);
		for (PendingTask task : tasks.pending().values()) {
			if (tasks.contains(name, task)) {
				first.add(describe(task));
				if (first.size() > limit) {
					first.remove();
				}
			}
		}
		List<PendingTaskSnapshot> result = new ArrayList<>(first);
		result.sort(byDue);
		return result;
	}

	/**
	 * The names known so far: those declared, those scheduled under, and {@code other}
	 * for all beyond the first 1,000.
	 * @return the names
	 */
	public List<String> names() {
		return this.names.all().stream().map(NamedTasks::name).sorted().toList();
	}

	/**
	 * Tells of each name in {@link #names()} once: those known already at once, the
	 * others when they come to be known, on the thread that uses them first.
	 * @param listener takes a name; must not schedule tasks
	 */
	public void onName(Consumer<String> listener) {
		this.names.onName(listener);
	}

	/**
	 * The figures of a name.
	 * @param name one of {@link #names()}
	 * @return the figures; of a name beyond the limit, those of {@code other}
	 */
	public TaskCounts counts(String name) {
		return this.names.get(name).counts();
	}

	/**
	 * How many tasks have not begun.
	 * @return the number over all names
	 */
	public long pendingCount() {
		return all().stream().mapToLong((tasks) -> tasks.pending().mappingCount()).sum();
	}

	/**
	 * How many tasks have begun and not ended.
	 * @return the number over all names; may be too high for a moment, never too low
	 */
	public long runningCount() {
		return all().stream().mapToLong(NamedTasks::running).sum();
	}

	/**
	 * Ends the tasks when the application shuts down.
	 * @return the one shutdown of these tasks
	 */
	public TaskShutdown atShutdown() {
		return this.shutdown;
	}

	/**
	 * The time.
	 * @return the clock that deadlines are computed by
	 */
	public TaskClock clock() {
		return this.clock;
	}

	TimingWheel wheel() {
		return this.wheel;
	}

	@Nullable TaskExecutionInterceptor interceptor() {
		return this.interceptor;
	}

	String idOf(long sequence) {
		return this.ids.text(sequence);
	}

	Executor handOver(Executor executor) {
		return this.handOverExecutors.safe(executor);
	}

	boolean isAccepting() {
		return this.shutdown.isAccepting();
	}

	void checkAccepting(String name) {
		if (!isAccepting()) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: the application is shutting down".formatted(name));
		}
	}

	Collection<NamedTasks> all() {
		return this.names.all();
	}

	/**
	 * A task has ended or was called off.
	 */
	void changed() {
		this.shutdown.changed();
	}

	/**
	 * A periodic task waits for its next run.
	 */
	void startedAgain(PendingTask task, @Nullable TaskFuture<?> future) {
		this.shutdown.startedAgain(task, future);
	}

	private static Object slot(NamedTasks tasks, TaskId taskId) {
		return tasks.slot(taskId.name(), TaskKeys.of(taskId.key()));
	}

	/**
	 * Where a task with an id was found; another may have taken its place since.
	 */
	private static @Nullable Object locate(NamedTasks tasks, String name, long sequence) {
		if (sequence == 0) {
			return null;
		}
		Object unkeyed = tasks.slot(name, new TaskKeys.Unkeyed(sequence));
		if (tasks.pending().containsKey(unkeyed)) {
			return unkeyed;
		}
		// Ids of keyed tasks are for people: an index would cost every task.
		return tasks.pending()
			.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().sequence() == sequence && tasks.contains(name, entry.getValue()))
			.map(Map.Entry::getKey)
			.findFirst()
			.orElse(null);
	}

	private PendingTaskSnapshot describe(PendingTask task) {
		return new PendingTaskSnapshot(idOf(task.sequence()), task.definition().name(), TaskKeys.text(task.slot()),
				Nanos.toInstant(task.dueEpochNanos()));
	}

	/**
	 * Takes a handle under the map's lock of the key.
	 */
	private static final class TaskHolder {

		private @Nullable DelayedTask<?> task;

		PendingTask take(Object slot, PendingTask task) {
			this.task = task.futureOrNew();
			return task;
		}

	}

}
