package io.timingwheel.spring.durable.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.autoconfigure.internal.AbstractTasksLifecycle;
import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.node.DurableNode;

import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Makes a node run durable tasks while its application context runs. When the context
 * begins to close, the node ends its claims. Other nodes take over while the web server
 * finishes its requests. Other nodes run the tasks that those requests store.
 */
class DurableTasksLifecycle extends AbstractTasksLifecycle implements ApplicationListener<ContextClosedEvent> {

	private final DurableTasks tasks;

	private final DurableNode node;

	private final boolean claims;

	private final Duration awaitTerminationPeriod;

	DurableTasksLifecycle(DurableTasks tasks, DurableNode node, boolean claims, Duration awaitTerminationPeriod,
			ConfigurableApplicationContext applicationContext) {
		super(applicationContext, DURABLE_PHASE);
		this.tasks = tasks;
		this.node = node;
		this.claims = claims;
		this.awaitTerminationPeriod = awaitTerminationPeriod;
	}

	@Override
	protected void onStart() {
		if (!this.claims) {
			this.node.pause();
		}
		this.tasks.start();
		this.node.start();
		if (this.claims) {
			this.node.resume();
		}
	}

	@Override
	protected void onPause() {
		this.node.pause();
	}

	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.applicationContext) {
			this.node.stopClaiming();
		}
	}

	@Override
	protected void onEnd(boolean executorsRun) throws InterruptedException {
		this.tasks.stopAccepting();
		this.node.shutdown(executorsRun ? this.awaitTerminationPeriod : Duration.ZERO);
	}

}
