package io.timingwheel.test;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.TimingWheelTaskScheduler;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration of {@link VirtualTime}. Only {@link AutoConfigureVirtualTime} and
 * tests with an {@code ApplicationContextRunner} import it.
 *
 * @since 0.1
 */
@AutoConfiguration(before = TimingWheelAutoConfiguration.class)
public final class VirtualTimeAutoConfiguration {

	private static final boolean DURABLE = ClassUtils.isPresent("io.timingwheel.spring.durable.node.DurableNode",
			VirtualTimeAutoConfiguration.class.getClassLoader());

	@Bean
	static VirtualClock timingWheelVirtualClock() {
		return new VirtualClock();
	}

	@Bean
	static InjectedFaults timingWheelInjectedFaults() {
		return new InjectedFaults();
	}

	@Bean
	static TestTimers timingWheelTestTimers() {
		return new TestTimers();
	}

	/**
	 * The first customizer, so that an error handler of the application takes the place
	 * of this one. The tick of the properties does not matter: a task must not be late
	 * when a test moves the time to its due time.
	 */
	@Bean
	@Order(Ordered.HIGHEST_PRECEDENCE)
	TimingWheelBuilderCustomizer timingWheelVirtualTimeCustomizer(VirtualClock clock) {
		return (builder) -> builder.tick(VirtualClock.TICK).onError((task, error) -> clock.failed("unnamed", error));
	}

	/**
	 * A scheduler is prepared before anybody uses it.
	 */
	@Bean
	static BeanPostProcessor timingWheelVirtualTimeProcessor(ObjectProvider<VirtualClock> clock,
			ObjectProvider<TestTimers> timers, ObjectProvider<TimingWheel> wheel) {
		return new VirtualTimeProcessor(clock, timers, wheel);
	}

	/**
	 * Needs none of the parts that it moves until all singletons are there: a part may
	 * need the {@code Clock} of the application, which may be that of this object.
	 */
	@Bean
	@Lazy(false)
	VirtualTime timingWheelVirtualTime(VirtualClock clock, InjectedFaults faults, TestTimers timers,
			BeanFactory beanFactory, Environment environment) {
		SingletonSupplier<VirtualParts> parts = SingletonSupplier.of(() -> findParts(clock, beanFactory, environment));
		return new DefaultVirtualTime(clock, faults, timers, parts::obtain);
	}

	private static VirtualParts findParts(VirtualClock clock, BeanFactory beanFactory, Environment environment) {
		TimingWheel wheel = beanFactory.getBeanProvider(TimingWheel.class).getIfAvailable();
		DelayedTaskRegistry tasks = beanFactory.getBeanProvider(DelayedTaskRegistry.class).getIfAvailable();
		if (wheel == null || tasks == null) {
			throw missing(environment);
		}
		if (wheel.timeSource() != clock.timeSource()) {
			throw new VirtualTimeException(
					"There are two clocks: the TimingWheel does not go by the clock that @AutoConfigureVirtualTime brings.",
					"Remove the TimingWheel bean or the TimingWheelBuilderCustomizer that sets another time source from this"
							+ " test, or remove @AutoConfigureVirtualTime.");
		}
		return new VirtualParts(wheel, tasks, DURABLE ? VirtualNode.find(beanFactory) : null);
	}

	private static VirtualTimeException missing(Environment environment) {
		if (!environment.getProperty("timingwheel.enabled", Boolean.class, true)) {
			return new VirtualTimeException("The timing wheel is switched off by timingwheel.enabled=false.",
					"Remove the property from this test, or remove @AutoConfigureVirtualTime.");
		}
		return new VirtualTimeException("There is no timing wheel.",
				"Add TimingWheelAutoConfiguration to the configuration of this test.");
	}

	@Configuration(proxyBeanMethods = false)
	@Import(DurableVirtualTimeConfiguration.class)
	static class DurableConfiguration {

	}

	/**
	 * Sets the clock and the error handler of the scheduler on the wheel.
	 */
	private static final class VirtualTimeProcessor implements BeanPostProcessor {

		private static final Log logger = LogFactory.getLog(VirtualTime.class);

		private final ObjectProvider<VirtualClock> clock;

		private final ObjectProvider<TestTimers> timers;

		private final ObjectProvider<TimingWheel> wheel;

		VirtualTimeProcessor(ObjectProvider<VirtualClock> clock, ObjectProvider<TestTimers> timers,
				ObjectProvider<TimingWheel> wheel) {
			this.clock = clock;
			this.timers = timers;
			this.wheel = wheel;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof TimingWheelTaskScheduler scheduler) ? prepare(scheduler, beanName) : bean;
		}

		private TimingWheelTaskScheduler prepare(TimingWheelTaskScheduler bean, String beanName) {
			TimingWheelTaskScheduler scheduler = bean;
			TimingWheel wheel = this.wheel.getIfUnique();
			if (bean.getClass() == TimingWheelTaskScheduler.class && wheel != null) {
				scheduler = new TestScheduler(wheel, this.timers.getObject());
			}
			VirtualClock clock = this.clock.getObject();
			scheduler.setClock(clock.clock());
			scheduler.setErrorHandler((error) -> {
				logger.error("Unexpected exception of a scheduled task", error);
				clock.failed(beanName, error);
			});
			return scheduler;
		}

	}

}
