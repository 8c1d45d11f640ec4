package io.timingwheel.spring.durable.call;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

import io.timingwheel.spring.durable.call.Submission.Rules;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DurableTaskOperations;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.util.Assert;

/**
 * Stores, cancels, moves and finds durable tasks for the application. If the store cannot
 * be reached, its exception goes to the caller. Thread-safe.
 *
 * @since 0.1
 */
public final class DurableTasks implements DurableTaskOperations {

	private static final SecureRandom random = new SecureRandom();

	private static final Rules NOW = new Rules(DueTime.after(Duration.ZERO), IfPending.REPLACE, null);

	private static final Object[] NO_ARGUMENTS = {};

	final CallParts parts;

	final PayloadCodec codec;

	private final @Nullable TaskExecutionInterceptor interceptor;

	private final Storing storing;

	private final Pending pending;

	private final Schedules schedules;

	private final DeclaredSchedules declaredSchedules;

	private volatile boolean accepting = true;

	/**
	 * @param interceptor gives the trace of the caller, {@code null} for none
	 */
	public DurableTasks(CallParts parts, PayloadCodec codec, @Nullable TaskExecutionInterceptor interceptor) {
		this.parts = parts;
		this.codec = codec;
		this.interceptor = interceptor;
		this.storing = new Storing(parts);
		this.pending = new Pending(parts);
		this.schedules = new Schedules(parts);
		this.declaredSchedules = new DeclaredSchedules(this.schedules);
	}

	@Override
	public boolean owns(String name) {
		return this.parts.handlers().find(name) != null;
	}

	DelayedTask<@Nullable Void> enqueue(DurableHandler handler, @Nullable String key, Rules rules,
			@Nullable Object[] arguments) {
		return enqueue(List.of(submission(handler.name(), key, handler, rules, Kind.ONCE, arguments))).get(0);
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Duration delay, @Nullable Object... arguments) {
		return enqueueAll(List.of(DurableCall.of(id, delay, arguments))).get(0);
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Instant due, @Nullable Object... arguments) {
		return enqueueAll(List.of(DurableCall.of(id, due, arguments))).get(0);
	}

	@Override
	public List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls) {
		return enqueue(calls.stream().map((call) -> submission(call, Kind.ONCE)).toList());
	}

	private List<DelayedTask<@Nullable Void>> enqueue(List<Submission> submissions) {
		if (!submissions.isEmpty()) {
			this.storing.enqueue(submissions);
		}
		return submissions.stream().<DelayedTask<@Nullable Void>>map(Submission::task).toList();
	}

	@Override
	public DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments) {
		Submission submission = submission(DurableCall.of(id, Duration.ZERO, arguments), Kind.SCHEDULE);
		this.schedules.recur(submission, schedule);
		return submission.task();
	}

	void declare(DurableHandler handler, Schedule schedule, @Nullable Duration initialDelay) {
		this.declaredSchedules.add(() -> submission(handler.name(), DelayedTaskStore.DECLARED_KEY, handler, NOW,
				Kind.SCHEDULE, NO_ARGUMENTS), schedule, initialDelay);
	}

	/** Stores the declared schedules, also those that are stored already. */
	public void storeSchedules() {
		this.declaredSchedules.store();
	}

	/**
	 * @return {@code false} if some schedules are not stored yet
	 */
	public boolean lookAfterSchedules() {
		return this.declaredSchedules.lookAfter();
	}

	public void stopAccepting() {
		this.accepting = false;
	}

	private Submission submission(DurableCall call, Kind kind) {
		TaskLimits.checkName(call.name());
		DurableHandler handler = this.parts.handlers().find(call.name());
		Assert.isTrue(handler == null || !handler.method().recurring(),
				() -> ("The name \"%s\" belongs to a @Recurring method, which never overlaps itself: it has no other"
						+ " tasks and schedules. To run it at another time, move its next run with reschedule")
					.formatted(call.name()));
		Instant due = call.due();
		// A call has either a due time or a delay.
		DueTime time = (due != null) ? DueTime.at(due) : DueTime.after(Objects.requireNonNull(call.delay()));
		return submission((handler != null) ? handler.name() : call.name(), call.key(), handler,
				new Rules(time, call.ifPending(), call.maxWait()), kind, call.arguments().toArray());
	}

	private Submission submission(String name, @Nullable String key, @Nullable DurableHandler handler, Rules rules,
			Kind kind, @Nullable Object[] arguments) {
		if (!this.accepting) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: the application is shutting down".formatted(name));
		}
		TaskLimits.checkKey(key);
		String payload = (handler != null) ? handler.arguments().encode(arguments) : this.codec.encode(name, arguments);
		String traceparent = (this.interceptor != null) ? this.interceptor.traceparent() : null;
		NewTask content = new NewTask(nextId(), name, key, payload, traceparent, rules.due(), rules.ifPending(),
				rules.maxWait());
		return new Submission(this.pending, content, kind, handler, arguments);
	}

	/** A UUID of version 7: new rows are side by side in an index. */
	private static String nextId() {
		long high = (System.currentTimeMillis() << 16) | 0x7000L | (random.nextLong() & 0xFFFL);
		long low = (random.nextLong() >>> 2) | 0x8000000000000000L;
		return new UUID(high, low).toString();
	}

	@Override
	public boolean cancel(TaskId id) {
		return this.pending.cancel(id);
	}

	@Override
	public boolean reschedule(TaskId id, Duration delay) {
		return this.pending.reschedule(id, delay);
	}

	@Override
	public Optional<DelayedTask<?>> find(TaskId id) {
		return this.pending.find(id).map(this.pending::handle);
	}

	public Pending pending() {
		return this.pending;
	}

}
