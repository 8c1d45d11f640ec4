package io.timingwheel.spring.task;

import java.util.concurrent.ScheduledExecutorService;

import io.timingwheel.TimingWheel;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.scheduling.concurrent.ConcurrentTaskScheduler;

/**
 * A {@link org.springframework.scheduling.TaskScheduler TaskScheduler} on a wheel, with
 * triggers, fixed rates and fixed delays. Its tasks run on the wheel's executor. They are
 * not delayed tasks: they have no name and do not appear among them.
 */
public class TimingWheelTaskScheduler extends ConcurrentTaskScheduler implements DisposableBean {

	private final ScheduledExecutorService executor;

	/**
	 * Creates a scheduler.
	 * @param wheel the wheel, which stays as it is when this scheduler is destroyed
	 */
	public TimingWheelTaskScheduler(TimingWheel wheel) {
		this(wheel.asScheduledExecutorService());
	}

	private TimingWheelTaskScheduler(ScheduledExecutorService executor) {
		super(executor);
		this.executor = executor;
	}

	/**
	 * Calls off what has not begun and interrupts what has.
	 */
	@Override
	public void destroy() {
		this.executor.shutdownNow();
	}

}
