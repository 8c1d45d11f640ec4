package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.aop.internal.TaskMethodRegistry;
import io.timingwheel.spring.autoconfigure.TimingWheelProperties.Shutdown;
import io.timingwheel.spring.autoconfigure.internal.AbstractTasksLifecycle;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Starts the recurring tasks in memory, and ends all tasks in memory when the application
 * context closes. This happens after the web server has finished its requests, which may
 * still schedule tasks, and before the executors stop. If the context only stops or
 * pauses, no body begins until the context starts again. The bodies that are due then
 * begin.
 */
class TimingWheelLifecycle extends AbstractTasksLifecycle {

	private static final Log logger = LogFactory.getLog(TimingWheelLifecycle.class);

	static final int PHASE = MEMORY_PHASE;

	private final DelayedTaskRegistry tasks;

	private final TaskMethodRegistry recurring;

	private final HandOverExecutors handOvers;

	private final Shutdown shutdown;

	private volatile boolean policiesChecked;

	TimingWheelLifecycle(DelayedTaskRegistry tasks, TaskMethodRegistry recurring, HandOverExecutors handOvers,
			Shutdown shutdown, ConfigurableApplicationContext applicationContext) {
		super(applicationContext, PHASE);
		this.tasks = tasks;
		this.recurring = recurring;
		this.handOvers = handOvers;
		this.shutdown = shutdown;
	}

	@Override
	protected void onStart() {
		if (!this.policiesChecked) {
			this.policiesChecked = true;
			this.tasks.policies().checkNames();
		}
		this.handOvers.resume();
		this.recurring.start();
	}

	@Override
	protected void onPause() {
		this.handOvers.pause();
	}

	@Override
	protected void onEnd(boolean executorsRun) throws InterruptedException {
		Duration period = this.shutdown.awaitTerminationPeriod();
		try {
			if (executorsRun && this.shutdown.pending() == Shutdown.Pending.RUN) {
				this.tasks.atShutdown().runDue(period);
				return;
			}
			this.tasks.atShutdown().stopAccepting();
			long cancelled = this.tasks.atShutdown().cancelPending();
			if (cancelled > 0) {
				logger.info("Cancelled %d pending delayed tasks".formatted(cancelled));
			}
			this.tasks.atShutdown().awaitRunning(period);
		}
		finally {
			long running = this.tasks.atShutdown().runningCount();
			if (running > 0) {
				logger.warn(("Still running after %s: %d of the delayed tasks"
						+ " (timingwheel.shutdown.await-termination-period)")
					.formatted(DurationFormatterUtils.print(period, DurationFormat.Style.COMPOSITE), running));
			}
		}
	}

}
