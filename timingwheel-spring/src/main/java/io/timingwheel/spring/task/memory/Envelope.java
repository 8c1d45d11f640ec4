package io.timingwheel.spring.task.memory;

import java.util.function.Consumer;

import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import io.timingwheel.spring.task.internal.TaskExecution;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * A payload with the context of the thread that submitted it, and with the number of its
 * attempt. A plain call has none. A task has one run at a time, which uses its envelope.
 */
final class Envelope implements Runnable {

	final Object payload;

	private final @Nullable Object captured;

	/** Calls {@link #run()} within the decorators; {@code null} if there are none. */
	private final @Nullable Runnable decorated;

	private @Nullable Consumer<? super @Nullable Object> action;

	int attempt = 1;

	private Envelope(Object payload, @Nullable Object captured, @Nullable TaskDecorator decorator,
			@Nullable Object security) {
		this.payload = payload;
		this.captured = captured;
		this.decorated = (decorator != null || security != null) ? CallerContext.decorate(this, decorator, security)
				: null;
	}

	/** Puts a payload into an envelope if there is a context to keep. */
	static Object seal(Object payload, TaskDefinition definition) {
		NamedTasks tasks = definition.tasks;
		TaskExecution.Interceptor interceptor = tasks.environment.interceptor();
		Object captured = (interceptor != null) ? interceptor.capture(tasks.name) : null;
		TaskDecorator decorator = tasks.environment.decorator();
		// After shutdown the task is going to be rejected, and there may be no executor.
		Object security = tasks.shutdown().accepting ? SecurityContextExecutors.find(definition::executor) : null;
		return (captured != null || decorator != null || security != null)
				? new Envelope(payload, captured, decorator, security) : payload;
	}

	/** The envelope in what a pending task keeps, or one without a context. */
	static Envelope of(Object kept) {
		if (kept instanceof Repetition repetition) {
			return repetition.envelope;
		}
		Object payload = (kept instanceof Debounce debounce) ? debounce.payload() : kept;
		return (payload instanceof Envelope envelope) ? envelope : new Envelope(payload, null, null, null);
	}

	void setAttempt(int attempt) {
		this.attempt = attempt;
	}

	void run(Consumer<? super @Nullable Object> action) {
		if (this.decorated == null) {
			action.accept(this.captured);
			return;
		}
		this.action = action;
		try {
			this.decorated.run();
		}
		finally {
			this.action = null;
		}
	}

	@Override
	public void run() {
		Consumer<? super @Nullable Object> action = this.action;
		if (action != null) {
			action.accept(this.captured);
		}
	}

	/**
	 * What a task keeps that was scheduled with a longest wait.
	 *
	 * @param payload the payload, perhaps in an envelope
	 * @param firstNanos when the first call came since the task last began, by the
	 * wheel's clock
	 */
	record Debounce(Object payload, long firstNanos) {

	}

}
