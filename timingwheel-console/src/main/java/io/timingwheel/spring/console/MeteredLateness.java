package io.timingwheel.spring.console;

import java.util.Collection;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.timingwheel.spring.console.LiveFigures.LatenessFigures;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lateness from the meters that the application has anyway.
 */
record MeteredLateness(MeterRegistry registry) {

	@Nullable LatenessFigures read() {
		Collection<Timer> timers = this.registry.find("timingwheel.tasks.lateness").timers();
		long count = 0;
		double total = 0;
		double max = 0;
		for (Timer timer : timers) {
			count += timer.count();
			total += timer.totalTime(TimeUnit.MILLISECONDS);
			max = Math.max(max, timer.max(TimeUnit.MILLISECONDS));
		}
		return timers.isEmpty() ? null : new LatenessFigures(count, total, max);
	}

}
