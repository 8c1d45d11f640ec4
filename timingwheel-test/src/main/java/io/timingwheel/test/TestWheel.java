package io.timingwheel.test;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.timingwheel.TimerHandle;
import io.timingwheel.TimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import org.jspecify.annotations.Nullable;

/**
 * The wheel of the application, which notes what application and tests schedule on it.
 */
final class TestWheel implements TimingWheel {

	/** The delayed tasks and the node forget their own timers. */
	private static final String OWN_PACKAGE = "io.timingwheel.spring.";

	private final TimingWheel wheel;

	private final TestTimers timers;

	TestWheel(TimingWheel wheel, TestTimers timers) {
		this.wheel = wheel;
		this.timers = timers;
	}

	/**
	 * The wheel that notes nothing.
	 */
	TimingWheel wheel() {
		return this.wheel;
	}

	@Override
	public TimerHandle schedule(Runnable task, long delay, TimeUnit unit) {
		return noted(task, this.wheel.schedule(task, delay, unit));
	}

	@Override
	public TimerHandle schedule(Runnable task, Duration delay) {
		return noted(task, this.wheel.schedule(task, delay));
	}

	@Override
	public TimerHandle scheduleAt(Runnable task, long nanoTime) {
		return noted(task, this.wheel.scheduleAt(task, nanoTime));
	}

	private TimerHandle noted(Runnable task, TimerHandle timer) {
		return task.getClass().getName().startsWith(OWN_PACKAGE) ? timer : this.timers.add(task, timer);
	}

	@Override
	public ScheduledExecutorService asScheduledExecutorService() {
		ScheduledExecutorService service = this.wheel.asScheduledExecutorService();
		return (ScheduledExecutorService) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { ScheduledExecutorService.class },
				(proxy, method, arguments) -> call(proxy, service, method, arguments));
	}

	private @Nullable Object call(Object proxy, ScheduledExecutorService service, Method method,
			@Nullable Object[] arguments) throws Throwable {
		if (method.getName().equals("equals")) {
			return proxy == arguments[0];
		}
		try {
			Object result = method.invoke(service, arguments);
			if (result instanceof Future<?> future && arguments[0] != null) {
				this.timers.add(arguments[0], future);
			}
			return result;
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	@Override
	public long nanoTime() {
		return this.wheel.nanoTime();
	}

	@Override
	public TimeSource timeSource() {
		return this.wheel.timeSource();
	}

	@Override
	public long pending() {
		return this.wheel.pending();
	}

	@Override
	public WheelSnapshot snapshot() {
		return this.wheel.snapshot();
	}

	@Override
	public List<Runnable> stop() {
		return this.wheel.stop();
	}

	@Override
	public void close() {
		this.wheel.close();
	}

	@Override
	public String toString() {
		return this.wheel.toString();
	}

}
