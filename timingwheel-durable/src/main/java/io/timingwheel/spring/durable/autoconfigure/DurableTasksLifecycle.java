package io.timingwheel.spring.durable.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.autoconfigure.internal.AbstractTasksLifecycle;
import io.timingwheel.spring.durable.support.DurableTaskManager;

import org.springframework.context.ApplicationContext;

/**
 * Makes a node run durable tasks while its application context runs. When the context
 * begins to close, the node ends its claims. Other nodes take over while the web server
 * finishes its requests. Other nodes run the tasks that those requests store.
 */
class DurableTasksLifecycle extends AbstractTasksLifecycle {

	private final DurableTaskManager tasks;

	private final boolean claims;

	private final Duration awaitTerminationPeriod;

	/**
	 * Creates the lifecycle of a node.
	 * @param claims whether the node claims tasks from its start on
	 */
	DurableTasksLifecycle(DurableTaskManager tasks, boolean claims, Duration awaitTerminationPeriod,
			ApplicationContext applicationContext) {
		super(applicationContext, DURABLE_PHASE);
		this.tasks = tasks;
		this.claims = claims;
		this.awaitTerminationPeriod = awaitTerminationPeriod;
	}

	@Override
	protected void onStart() {
		if (!this.claims) {
			this.tasks.pause();
		}
		this.tasks.start();
		if (this.claims) {
			this.tasks.resume();
		}
	}

	@Override
	protected void onPause() {
		this.tasks.pause();
	}

	@Override
	protected void onClosing() {
		this.tasks.stopClaiming();
	}

	@Override
	protected void onEnd(boolean executorsRun) throws InterruptedException {
		this.tasks.shutdown(executorsRun ? this.awaitTerminationPeriod : Duration.ZERO);
	}

}
