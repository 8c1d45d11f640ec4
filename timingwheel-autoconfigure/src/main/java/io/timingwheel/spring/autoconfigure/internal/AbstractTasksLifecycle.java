package io.timingwheel.spring.autoconfigure.internal;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Ends tasks once, when the application context closes. If the context is only stopped or
 * paused and may start again, the tasks stay.
 */
public abstract class AbstractTasksLifecycle implements SmartLifecycle, DisposableBean {

	/** After the web server's graceful shutdown at {@code MAX - 1024}. */
	protected static final int MEMORY_PHASE = Integer.MAX_VALUE - 4096;

	/** Durable tasks stop first, since tasks in memory wait for all bodies. */
	protected static final int DURABLE_PHASE = MEMORY_PHASE + 1;

	protected final ConfigurableApplicationContext applicationContext;

	private final int phase;

	private volatile boolean running;

	private volatile boolean ended;

	protected AbstractTasksLifecycle(ConfigurableApplicationContext applicationContext, int phase) {
		this.applicationContext = applicationContext;
		this.phase = phase;
	}

	@Override
	public final void start() {
		this.running = true;
		onStart();
	}

	@Override
	public final void stop() {
		this.running = false;
		if (this.applicationContext.isClosed()) {
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

	protected void onStart() {
	}

	/** The context stops, and may be started again. */
	protected void onPause() {
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
