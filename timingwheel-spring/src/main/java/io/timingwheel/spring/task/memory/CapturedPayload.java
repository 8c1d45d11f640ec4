package io.timingwheel.spring.task.memory;

import java.util.function.Consumer;

import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * The payload of a task together with the context of the thread that submitted it: what
 * the {@link TaskExecutionInterceptor} captured, the {@link TaskDecorator}, and the
 * security context if the executor carries it.
 */
final class CapturedPayload implements Runnable {

	private final Object payload;

	private final @Nullable Object captured;

	private final Runnable decorated;

	/** What runs within the decorators; a task has only one run at a time. */
	private @Nullable Consumer<? super @Nullable Object> action;

	private CapturedPayload(Object payload, @Nullable Object captured, @Nullable TaskDecorator decorator,
			@Nullable Object security) {
		this.payload = payload;
		this.captured = captured;
		this.decorated = CallerContext.decorate(this, decorator, security);
	}

	/**
	 * Captures the context of the current thread.
	 * @return the payload itself, which takes less memory, if there is no context
	 */
	static Object capture(Object payload, TaskDefinition<?> definition) {
		TaskEnvironment environment = definition.tasks().environment();
		TaskExecutionInterceptor interceptor = environment.interceptor();
		TaskDecorator decorator = environment.decorator();
		Object captured = (interceptor != null) ? interceptor.capture(definition.name()) : null;
		// After shutdown the task is going to be rejected, and there may be no executor.
		Object security = environment.shutdown().isAccepting() ? SecurityContextExecutors.find(definition::executor)
				: null;
		return (captured != null || decorator != null || security != null)
				? new CapturedPayload(payload, captured, decorator, security) : payload;
	}

	/**
	 * The payload without the captured context.
	 */
	Object payload() {
		return this.payload;
	}

	/**
	 * Calls code within the decorators.
	 * @param action takes what the interceptor captured
	 */
	void run(Consumer<? super @Nullable Object> action) {
		this.action = action;
		try {
			this.decorated.run();
		}
		finally {
			this.action = null;
		}
	}

	/**
	 * The decorators call this.
	 */
	@Override
	public void run() {
		Consumer<? super @Nullable Object> action = this.action;
		if (action != null) {
			action.accept(this.captured);
		}
	}

}
