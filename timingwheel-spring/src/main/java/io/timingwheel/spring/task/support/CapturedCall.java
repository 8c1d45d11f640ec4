package io.timingwheel.spring.task.support;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * What a task was given, with the context of the thread that scheduled it.
 */
final class CapturedCall implements Runnable {

	private final Object payload;

	private final @Nullable Object captured;

	private final Runnable decorated;

	/** Only while it runs, which it never does twice at a time. */
	private @Nullable TaskRun run;

	CapturedCall(Object payload, @Nullable Object captured, @Nullable TaskDecorator decorator) {
		this.payload = payload;
		this.captured = captured;
		this.decorated = (decorator != null) ? decorator.decorate(this) : this;
	}

	Object payload() {
		return this.payload;
	}

	/**
	 * Runs the task in its context.
	 */
	void call(TaskRun run) {
		this.run = run;
		try {
			this.decorated.run();
		}
		finally {
			this.run = null;
		}
	}

	/**
	 * Called from within the decorators.
	 */
	@Override
	public void run() {
		TaskRun run = this.run;
		if (run != null) {
			run.invoke(this.payload, this.captured);
		}
	}

}
