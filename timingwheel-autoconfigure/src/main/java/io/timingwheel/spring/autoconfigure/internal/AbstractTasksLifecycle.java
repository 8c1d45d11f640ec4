package io.timingwheel.spring.autoconfigure.internal;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Ends tasks once, when the application context closes. If the context is only stopped or
 * paused and may start again, the tasks stay.
 */
public abstract class AbstractTasksLifecycle
		implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, DisposableBean {

	/** After the web server's graceful shutdown at {@code MAX - 1024}. */
	protected static final int MEMORY_PHASE = Integer.MAX_VALUE - 4096;

	/** Durable tasks stop first, since tasks in memory wait for all bodies. */
	protected static final int DURABLE_PHASE = MEMORY_PHASE + 1;

	private final ApplicationContext applicationContext;

	private final int phase;

	private volatile boolean running;

	private volatile boolean closing;

	private volatile boolean ended;

	protected AbstractTasksLifecycle(ApplicationContext applicationContext, int phase) {
		this.applicationContext = applicationContext;
		this.phase = phase;
	}

	@Override
	public final void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.applicationContext) {
			this.closing = true;
			onClosing();
		}
	}

	@Override
	public final void start() {
		this.running = true;
		onStart();
	}

	@Override
	public final void stop() {
		this.running = false;
		if (this.closing) {
			end(true);
		}
		else {
			onPause();
		}
	}

	/**
	 * A context that was stopped before it is closed, or that failed to start, does not
	 * stop again. Its executors have stopped already, so no body can run.
	 */
	@Override
	public final void destroy() {
		if (!this.ended) {
			end(false);
		}
	}

	private void end(boolean executorsRun) {
		this.ended = true;
		try {
			onEnd(executorsRun);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** The context starts, or starts again. */
	protected void onStart() {
	}

	/** The context stops, and may be started again. */
	protected void onPause() {
	}

	/** The context begins to close, and nothing has stopped yet. */
	protected void onClosing() {
	}

	/** Ends the tasks, once. Tells whether the executors still run bodies. */
	protected abstract void onEnd(boolean executorsRun) throws InterruptedException;

	@Override
	public final boolean isRunning() {
		return this.running;
	}

	@Override
	public final int getPhase() {
		return this.phase;
	}

}
