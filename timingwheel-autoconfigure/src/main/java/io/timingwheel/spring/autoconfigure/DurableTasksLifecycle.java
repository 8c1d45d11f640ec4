package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.durable.support.DurableTaskManager;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Has a node run durable tasks while its application context runs. When the context
 * closes, claims end at once, so that other nodes take over while the web server finishes
 * its requests; what those still store is run by others.
 */
class DurableTasksLifecycle implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, DisposableBean {

	/** Stops before the tasks in memory, which wait for all bodies. */
	static final int PHASE = TimingWheelLifecycle.PHASE + 1;

	private final DurableTaskManager tasks;

	private final Duration awaitTerminationPeriod;

	private final ApplicationContext applicationContext;

	private volatile boolean running;

	private volatile boolean closing;

	private volatile boolean ended;

	DurableTasksLifecycle(DurableTaskManager tasks, Duration awaitTerminationPeriod,
			ApplicationContext applicationContext) {
		this.tasks = tasks;
		this.awaitTerminationPeriod = awaitTerminationPeriod;
		this.applicationContext = applicationContext;
	}

	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.applicationContext) {
			this.closing = true;
			this.tasks.stopClaiming();
		}
	}

	@Override
	public void start() {
		this.running = true;
		this.tasks.start();
		this.tasks.resume();
	}

	@Override
	public void stop() {
		this.running = false;
		if (this.closing) {
			end(this.awaitTerminationPeriod);
		}
		else {
			this.tasks.pause();
		}
	}

	/**
	 * A context that was stopped before it is closed, or that failed to start, does not
	 * stop again: its executors are at rest.
	 */
	@Override
	public void destroy() {
		if (!this.ended) {
			end(Duration.ZERO);
		}
	}

	private void end(Duration period) {
		this.ended = true;
		try {
			this.tasks.shutdown(period);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
