package io.timingwheel.spring.task.memory;

import java.util.function.Consumer;

import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * A payload with the context of the thread that submitted it, and with the number of its
 * attempt. A plain call has none. A task has one run at a time, which uses its envelope.
 */
class Envelope implements Runnable {

	private final Object payload;

	private final @Nullable Object captured;

	/** Calls {@link #run()} within the decorators; {@code null} if there are none. */
	private final @Nullable Runnable decorated;

	private @Nullable Consumer<? super @Nullable Object> action;

	private int attempt = 1;

	private Envelope(Object payload) {
		this.payload = payload;
		this.captured = null;
		this.decorated = null;
	}

	Envelope(Object payload, TaskDefinition<?> definition) {
		TaskEnvironment environment = definition.tasks().environment();
		TaskExecutionInterceptor interceptor = environment.interceptor();
		this.payload = payload;
		this.captured = (interceptor != null) ? interceptor.capture(definition.tasks().name()) : null;
		// After shutdown the task is going to be rejected, and there may be no executor.
		Object security = definition.tasks().shutdown().isAccepting()
				? SecurityContextExecutors.find(definition::executor) : null;
		TaskDecorator decorator = environment.decorator();
		this.decorated = (decorator != null || security != null) ? CallerContext.decorate(this, decorator, security)
				: null;
	}

	/** Puts a payload into an envelope if there is a context to keep. */
	static Object seal(Object payload, TaskDefinition<?> definition) {
		Envelope envelope = new Envelope(payload, definition);
		return (envelope.captured != null || envelope.decorated != null) ? envelope : payload;
	}

	/** The envelope in what a pending task keeps, or one without a context. */
	static Envelope of(Object kept) {
		Object payload = (kept instanceof Debounce debounce) ? debounce.payload() : kept;
		return (payload instanceof Envelope envelope) ? envelope : new Envelope(payload);
	}

	Object payload() {
		return this.payload;
	}

	int attempt() {
		return this.attempt;
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

}
