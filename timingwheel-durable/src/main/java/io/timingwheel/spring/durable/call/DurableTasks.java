package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.timingwheel.spring.durable.call.Submission.Rules;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
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

	private static final DueTime NOW = DueTime.after(Duration.ZERO);

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

	DelayedTask<@Nullable Void> enqueue(DurableHandler handler, @Nullable String key, Rules rules, DueTime due,
			@Nullable Object[] arguments) {
		return enqueue(submission(handler.name(), key, handler, rules, due, arguments));
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Duration delay, @Nullable Object... arguments) {
		return enqueue(submission(id.name(), id.key(), Rules.REPLACE, DueTime.after(delay), arguments));
	}

	@Override
	public DelayedTask<@Nullable Void> enqueue(TaskId id, Instant due, @Nullable Object... arguments) {
		return enqueue(submission(id.name(), id.key(), Rules.REPLACE, DueTime.at(due), arguments));
	}

	private DelayedTask<@Nullable Void> enqueue(Submission submission) {
		checkAccepting(submission.name());
		this.storing.enqueue(List.of(submission));
		return submission.task();
	}

	@Override
	public List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls) {
		List<Submission> submissions = calls.stream().map(this::submission).toList();
		if (submissions.isEmpty()) {
			return List.of();
		}
		checkAccepting(submissions.get(0).name());
		this.storing.enqueue(submissions);
		return submissions.stream().<DelayedTask<@Nullable Void>>map(Submission::task).toList();
	}

	@Override
	public DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments) {
		Submission submission = submission(id.name(), id.key(), Rules.REPLACE, NOW, arguments);
		checkAccepting(id.name());
		this.schedules.recur(submission, schedule);
		return submission.task();
	}

	void declare(DurableHandler handler, Schedule schedule, @Nullable Duration initialDelay) {
		this.declaredSchedules.add(() -> submission(handler.name(), DelayedTaskStore.DECLARED_KEY, handler,
				Rules.REPLACE, NOW, NO_ARGUMENTS), schedule, initialDelay);
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

	private void checkAccepting(String name) {
		if (!this.accepting) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: the application is shutting down".formatted(name));
		}
	}

	private Submission submission(DurableCall call) {
		Instant due = call.due();
		// A call has either a due time or a delay.
		DueTime time = (due != null) ? DueTime.at(due) : DueTime.after(Objects.requireNonNull(call.delay()));
		return submission(call.name(), call.key(), new Rules(call.ifPending(), call.maxWait()), time,
				call.arguments().toArray());
	}

	private Submission submission(String name, @Nullable String key, Rules rules, DueTime due,
			@Nullable Object[] arguments) {
		DurableHandler handler = this.parts.handlers().find(name);
		Assert.isTrue(handler == null || !handler.method().recurring(),
				() -> ("The name \"%s\" belongs to a @Recurring method, which never overlaps itself: it has no other"
						+ " tasks and schedules. To run it at another time, move its next run with reschedule")
					.formatted(name));
		if (handler == null) {
			TaskLimits.checkName(name);
		}
		return submission(this.parts.handlers().canonicalName(name), key, handler, rules, due, arguments);
	}

	private Submission submission(String name, @Nullable String key, @Nullable DurableHandler handler, Rules rules,
			DueTime due, @Nullable Object[] arguments) {
		TaskLimits.checkKey(key);
		String payload = (handler != null) ? handler.arguments().encode(arguments) : this.codec.encode(name, arguments);
		String traceparent = (this.interceptor != null) ? this.interceptor.traceparent() : null;
		Handle task = new Handle(this.pending, name, key, due);
		return new Submission(task,
				new NewTask(task.id(), name, key, payload, traceparent, due, rules.ifPending(), rules.maxWait()),
				handler, arguments);
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
