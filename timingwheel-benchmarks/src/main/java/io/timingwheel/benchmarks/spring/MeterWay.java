package io.timingwheel.benchmarks.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.TimingWheelMetrics;
import io.timingwheel.spring.aop.internal.TimeoutMethodRegistry;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** What an application measures. */
public enum MeterWay {

	/** Nothing. */
	NONE {

		@Override
		ConfigurableApplicationContext start() {
			return CallApplication.start();
		}

	},

	/** All meters of the tasks. */
	METERS {

		@Override
		ConfigurableApplicationContext start() {
			return bound(CallApplication.start(), new SimpleMeterRegistry());
		}

	},

	/** All meters, and an observation of each execution. */
	METERS_AND_OBSERVATIONS {

		@Override
		ConfigurableApplicationContext start() {
			SimpleMeterRegistry meters = new SimpleMeterRegistry();
			ObservationRegistry observations = ObservationRegistry.create();
			observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
			return bound(CallApplication.start((context) -> ((GenericApplicationContext) context)
				.registerBean(ObservationRegistry.class, () -> observations)), meters);
		}

	};

	abstract ConfigurableApplicationContext start();

	private static ConfigurableApplicationContext bound(ConfigurableApplicationContext context, MeterRegistry meters) {
		new TimingWheelMetrics(context.getBean(TimingWheel.class), context.getBean(DelayedTaskRegistry.class),
				context.getBean(TimeoutMethodRegistry.class), null)
			.bindTo(meters);
		return context;
	}

}
