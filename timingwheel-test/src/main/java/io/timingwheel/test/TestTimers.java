package io.timingwheel.test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Supplier;

import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.internal.PendingTimers;
import io.timingwheel.spring.task.TimingWheelTaskScheduler;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.scheduling.Trigger;

/**
 * The timers and schedules that a test method puts on the wheel do not reach the next
 * one. Those of the application itself stay. The schedulers on the wheel get the clock of
 * virtual time. Thread-safe.
 */
final class TestTimers implements BeanPostProcessor {

	private static final Log logger = LogFactory.getLog(VirtualTime.class);

	/** The delayed tasks and the node forget their own timers. */
	private static final String OWN_PACKAGE = "io.timingwheel.spring.";

	private final ObjectProvider<VirtualClock> clock;

	private final ObjectProvider<TimingWheel> wheel;

	private final List<Triggered> triggered = new ArrayList<>();

	/** The tasks of the application itself. */
	private final Set<Object> fromTheStart = Collections.newSetFromMap(new IdentityHashMap<>());

	/** Whether there was a reset. */
	private boolean begun;

	TestTimers(ObjectProvider<VirtualClock> clock, ObjectProvider<TimingWheel> wheel) {
		this.clock = clock;
		this.wheel = wheel;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof TimingWheelTaskScheduler own)) {
			return bean;
		}
		TimingWheel wheel = this.wheel.getIfUnique();
		TimingWheelTaskScheduler scheduler = (own.getClass() == TimingWheelTaskScheduler.class && wheel != null)
				? new TestScheduler(wheel) : own;
		VirtualClock clock = this.clock.getObject();
		scheduler.setClock(clock.clock());
		scheduler.setErrorHandler((error) -> {
			logger.error("Unexpected exception of a scheduled task", error);
			clock.failed(error);
		});
		return scheduler;
	}

	/**
	 * Cancels what is pending, except tasks that were pending at the first call. The
	 * application may have scheduled such a task again since. The caller has set the time
	 * back.
	 */
	synchronized void reset() {
		this.triggered.removeIf((schedule) -> schedule.future.isDone());
		if (!this.begun) {
			this.fromTheStart.addAll(this.triggered);
		}
		this.triggered.retainAll(this.fromTheStart);
		((PendingTimers) this.wheel.getObject()).forEachPending((task, timer) -> {
			if (task.getClass().getName().startsWith(OWN_PACKAGE)) {
				return;
			}
			if (!this.begun) {
				this.fromTheStart.add(task);
			}
			else if (!this.fromTheStart.contains(task)) {
				cancel(task, timer);
			}
		});
		this.triggered.forEach(Triggered::restart);
		this.begun = true;
	}

	private static void cancel(Runnable task, TimerHandle timer) {
		if (task instanceof Future<?> future) {
			future.cancel(false);
		}
		else {
			timer.cancel();
		}
	}

	private synchronized @Nullable ScheduledFuture<?> start(Supplier<@Nullable ScheduledFuture<?>> starter) {
		ScheduledFuture<?> first = starter.get();
		if (first == null) {
			return null;
		}
		HotSwappableTargetSource current = new HotSwappableTargetSource(first);
		ScheduledFuture<?> future = ProxyFactory.getProxy(ScheduledFuture.class, current);
		this.triggered.add(new Triggered(starter, current, future));
		return future;
	}

	/**
	 * A schedule with a trigger, such as a cron expression. It starts anew when the time
	 * is set back. Otherwise its next time would be as late as the time was moved before.
	 */
	private record Triggered(Supplier<@Nullable ScheduledFuture<?>> starter, HotSwappableTargetSource current,
			ScheduledFuture<?> future) {

		void restart() {
			this.future.cancel(false);
			ScheduledFuture<?> next = this.starter.get();
			if (next != null) {
				this.current.swap(next);
			}
		}

	}

	private final class TestScheduler extends TimingWheelTaskScheduler {

		TestScheduler(TimingWheel wheel) {
			super(wheel);
		}

		@Override
		public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
			return start(() -> super.schedule(task, trigger));
		}

	}

}
