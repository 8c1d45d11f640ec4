package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.autoconfigure.TimingWheelProperties.Shutdown;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Ends the tasks when the application context closes: after the web server has finished
 * its requests, which may still schedule some, and before the executors end.
 *
 * <p>
 * A context that is merely stopped or paused, to be started again, keeps its tasks.
 */
class TimingWheelLifecycle implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, DisposableBean {

	private static final Log logger = LogFactory.getLog(TimingWheelLifecycle.class);

	/** The web server's graceful shutdown is at {@code MAX - 1024}. */
	static final int PHASE = Integer.MAX_VALUE - 4096;

	private final DelayedTaskRegistry tasks;

	private final Shutdown shutdown;

	private final ApplicationContext applicationContext;

	private volatile boolean running;

	private volatile boolean closing;

	private volatile boolean ended;

	TimingWheelLifecycle(DelayedTaskRegistry tasks, Shutdown shutdown, ApplicationContext applicationContext) {
		this.tasks = tasks;
		this.shutdown = shutdown;
		this.applicationContext = applicationContext;
	}

	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.applicationContext) {
			this.closing = true;
		}
	}

	@Override
	public void start() {
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		if (this.closing) {
			end(this.shutdown.getPending());
		}
	}

	/**
	 * A context that was stopped or paused before it is closed, or that failed to start,
	 * does not stop again: its executors are at rest, so that nothing can run any more.
	 */
	@Override
	public void destroy() {
		if (!this.ended) {
			end(Shutdown.Pending.CANCEL);
		}
	}

	private void end(Shutdown.Pending pending) {
		this.ended = true;
		Duration period = this.shutdown.getAwaitTerminationPeriod();
		try {
			if (pending == Shutdown.Pending.RUN) {
				this.tasks.atShutdown().runDue(period);
			}
			else {
				cancel();
				this.tasks.atShutdown().awaitRunning(period);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		long running = this.tasks.runningCount();
		if (running > 0) {
			logger
				.warn("Still running after %s: %d of the delayed tasks (timingwheel.shutdown.await-termination-period)"
					.formatted(DurationStyle.SIMPLE.print(period), running));
		}
	}

	private void cancel() {
		this.tasks.atShutdown().stopAccepting();
		long cancelled = this.tasks.atShutdown().cancelPending();
		if (cancelled > 0) {
			logger.info("Cancelled %d pending delayed tasks".formatted(cancelled));
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
