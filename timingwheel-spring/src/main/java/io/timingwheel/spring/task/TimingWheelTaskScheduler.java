package io.timingwheel.spring.task;

import java.util.concurrent.ScheduledExecutorService;

import io.timingwheel.TimingWheel;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;

/**
 * A {@link org.springframework.scheduling.TaskScheduler TaskScheduler} on a wheel, with
 * triggers, fixed rates and fixed delays. Its tasks run on the wheel's executor. Its
 * tasks have no names, and no metric and no endpoint shows them. Thread-safe.
 *
 * @since 0.1
 */
public class TimingWheelTaskScheduler extends ConcurrentTaskScheduler implements DisposableBean {

	private final ScheduledExecutorService executor;

	/**
	 * Creates a scheduler.
	 * @param wheel the wheel; it keeps running when this scheduler is destroyed
	 */
	public TimingWheelTaskScheduler(TimingWheel wheel) {
		this(wheel.asScheduledExecutorService());
	}

	private TimingWheelTaskScheduler(ScheduledExecutorService executor) {
		super(executor);
		this.executor = executor;
	}

	/** Cancels the tasks that have not begun, and interrupts the tasks that run. */
	@Override
	public void destroy() {
		this.executor.shutdownNow();
	}

}
