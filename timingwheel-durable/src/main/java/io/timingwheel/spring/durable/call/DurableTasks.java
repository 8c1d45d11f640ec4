package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.DurableMethod;
import io.timingwheel.spring.durable.call.StoreAccess.Submission;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.TransactionalBodies;
import io.timingwheel.spring.durable.payload.MethodPayloads;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskExecution;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * Stores, cancels, moves and finds durable tasks for the application and its annotated
 * methods. If the store cannot be reached, its exception goes to the caller. Thread-safe.
 */
public final class DurableTasks extends PendingTasks implements DurableMethod.Store {

	private static final Log logger = LogFactory.getLog(DurableTasks.class);

	private static final int MAX_UNKNOWN = 100;

	private final PayloadCodec codec;

	private final TaskExecution.@Nullable Interceptor interceptor;

	/**
	 * Finds the transaction manager once, since the search begins transactions, and a
	 * later caller may hold the last connection of the pool.
	 */
	private final SingletonSupplier<TransactionalBodies> transactions;

	private final Schedules schedules;

	/** The names without a method that the log has had. */
	private final Set<String> unknown = ConcurrentHashMap.newKeySet();

	private volatile boolean accepting = true;

	/**
	 * @param interceptor gives the trace of the caller, {@code null} for none
	 */
	public DurableTasks(StoreAccess access, PayloadCodec codec, TaskExecution.@Nullable Interceptor interceptor,
			ConfigurableListableBeanFactory beanFactory) {
		super(access);
		this.codec = codec;
		this.interceptor = interceptor;
		this.transactions = SingletonSupplier.of(() -> TransactionalBodies.find(access.store(), beanFactory));
		this.schedules = new Schedules(access);
	}

	@Override
	public boolean owns(String name) {
		return this.access.handlers().find(name) != null;
	}

	@Override
	public StoredCalls register(DurableMethod method) {
		DurableHandler handler = handler(method);
		return (key, ifPending, maxWait, due, arguments) -> {
			DueTime time = (due.time() != null) ? DueTime.at(due.time()) : DueTime.after(due.delay());
			Submission submission = submission(handler.name(), (key != null) ? key.toString() : null, handler, time,
					ifPending, maxWait, Kind.ONCE, arguments);
			this.access.enqueue(List.of(submission));
			return submission.task();
		};
	}

	@Override
	public void registerSchedule(DurableMethod method, Schedule schedule, @Nullable Duration initialDelay) {
		DurableHandler handler = handler(method);
		DueTime now = DueTime.after(Duration.ZERO);
		this.schedules.declare(() -> submission(handler.name(), DelayedTaskStore.DECLARED_KEY, handler, now,
				IfPending.REPLACE, null, Kind.SCHEDULE, new Object[0]), schedule, initialDelay);
	}

	private DurableHandler handler(DurableMethod method) {
		List<String> names = Stream.concat(Stream.of(method.name()), method.aliases().stream()).toList();
		try {
			names.forEach(TaskLimits::checkName);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method.method(), String.valueOf(ex.getMessage()),
					"choose another name or alias", ex);
		}
		MethodPayloads arguments = this.codec.payloads(names, method.method(), method.argumentTypes());
		try {
			return this.access.handlers()
				.register(new DurableHandler(names, method, arguments,
						Objects.requireNonNullElse(method.missed(), Missed.ONCE),
						method.transactional() ? this.transactions.obtain() : null));
		}
		catch (UnusableTaskStoreException ex) {
			// With this exception as its cause, the message would not name the method.
			throw new InvalidAnnotatedMethodException(method.method(), ex.getProblem(), ex.getRemedy(), ex.getCause());
		}
	}

	@Override
	public List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls) {
		List<Submission> submissions = calls.stream().map((call) -> submission(call, Kind.ONCE)).toList();
		this.access.enqueue(submissions);
		return submissions.stream().<DelayedTask<@Nullable Void>>map(Submission::task).toList();
	}

	@Override
	public DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments) {
		Submission submission = submission(DurableCall.of(id, Duration.ZERO, arguments), Kind.SCHEDULE);
		this.schedules.recur(submission, schedule);
		return submission.task();
	}

	/** Checks the migrations of arguments, and stores the declared schedules. */
	public void start() {
		this.codec.checkMigrations(this.access.handlers().names());
		this.schedules.start();
	}

	public void stopAccepting() {
		this.accepting = false;
	}

	private Submission submission(DurableCall call, Kind kind) {
		DurableHandler handler = this.access.handlers().find(call.name());
		Assert.isTrue(handler == null || !handler.method().recurring(),
				() -> ("The name \"%s\" belongs to a @Recurring method, which never overlaps itself: it has no other"
						+ " tasks and schedules. To run it at another time, move its next run with reschedule")
					.formatted(call.name()));
		Instant due = call.due();
		// A call has either a due time or a delay.
		DueTime time = (due != null) ? DueTime.at(due) : DueTime.after(Objects.requireNonNull(call.delay()));
		Submission submission = submission((handler != null) ? handler.name() : call.name(), call.key(), handler, time,
				call.ifPending(), call.maxWait(), kind, call.arguments().toArray());
		if (handler == null && this.unknown.size() < MAX_UNKNOWN && this.unknown.add(call.name())) {
			logger.info("No durable method of this node is named \"%s\" yet: the task waits for a node that has one"
				.formatted(call.name()));
		}
		return submission;
	}

	private Submission submission(String name, @Nullable String key, @Nullable DurableHandler handler, DueTime due,
			IfPending ifPending, @Nullable Duration maxWait, Kind kind, @Nullable Object[] arguments) {
		if (!this.accepting) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: the application is shutting down".formatted(name));
		}
		String payload = (handler != null) ? handler.payloads().encode(arguments) : this.codec.encode(name, arguments);
		String traceparent = (this.interceptor != null) ? this.interceptor.traceparent() : null;
		NewTask content = new NewTask(nextId(), name, key, payload, traceparent, due, ifPending, maxWait);
		Handle task = new Handle(this, name, key, Handle.State.WAITING, content.id(),
				due.resolve(System.currentTimeMillis()));
		return new Submission(task, content, kind, handler, arguments);
	}

	/** A UUID of version 7: new rows are side by side in an index. */
	private static String nextId() {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		long high = (System.currentTimeMillis() << 16) | 0x7000L | (random.nextLong() & 0xFFFL);
		long low = (random.nextLong() >>> 2) | 0x8000000000000000L;
		return new UUID(high, low).toString();
	}

	public Schedules schedules() {
		return this.schedules;
	}

}
