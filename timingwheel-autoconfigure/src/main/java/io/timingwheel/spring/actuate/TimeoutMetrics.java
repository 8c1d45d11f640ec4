package io.timingwheel.spring.actuate;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.spring.aop.timeout.TimeoutListener;

/**
 * The meter {@code timingwheel.timeouts}: the calls that exceeded their limit, by method.
 *
 * @since 0.1
 */
public class TimeoutMetrics implements TimeoutListener {

	private final MeterRegistry registry;

	private final Map<Method, Counter> counters = new ConcurrentHashMap<>();

	/**
	 * Creates the listener.
	 * @param registry the registry of the counters
	 */
	public TimeoutMetrics(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void timedOut(Method method) {
		this.counters.computeIfAbsent(method, this::counter).increment();
	}

	private Counter counter(Method method) {
		return Counter.builder("timingwheel.timeouts")
			.description("Calls that exceeded their limit")
			.tag("method", method.getDeclaringClass().getSimpleName() + "." + method.getName())
			.register(this.registry);
	}

}
