package io.timingwheel.test;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Auto-configuration of {@link VirtualTime}. Only {@link AutoConfigureVirtualTime} and
 * tests with an {@code ApplicationContextRunner} import it.
 *
 * @since 0.1
 */
@AutoConfiguration(before = TimingWheelAutoConfiguration.class)
@Import(DurableVirtualTimeConfiguration.class)
public final class VirtualTimeAutoConfiguration {

	@Bean
	static VirtualClock timingWheelVirtualClock() {
		return new VirtualClock();
	}

	@Bean
	static Faults timingWheelFaults(VirtualClock clock) {
		return new Faults(clock);
	}

	@Bean
	static TestTimers timingWheelTestTimers(ObjectProvider<VirtualClock> clock, ObjectProvider<TimingWheel> wheel) {
		return new TestTimers(clock, wheel);
	}

	/**
	 * The first customizer, so that an error handler of the application takes the place
	 * of this one. The tick of the properties does not matter: a task must not be late
	 * when a test moves the time to its due time.
	 */
	@Bean
	@Order(Ordered.HIGHEST_PRECEDENCE)
	TimingWheelBuilderCustomizer timingWheelVirtualTimeCustomizer(VirtualClock clock) {
		return (builder) -> builder.tick(VirtualClock.TICK).onError((task, error) -> clock.failed(error));
	}

	/**
	 * Needs none of the parts that it moves until all singletons are there: a part may
	 * need the {@code Clock} of the application, which may be that of this object.
	 */
	@Bean
	@Lazy(false)
	VirtualTime timingWheelVirtualTime(VirtualClock clock, Faults faults, TestTimers timers,
			ObjectProvider<TimingWheel> wheel, ObjectProvider<DelayedTaskRegistry> tasks,
			ObjectProvider<VirtualNode> node) {
		return new DefaultVirtualTime(clock, faults, timers, wheel, tasks, node);
	}

}
