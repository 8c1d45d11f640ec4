package io.timingwheel.spring.actuate;

import java.lang.reflect.Method;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timingwheel.spring.aop.internal.timeout.TimeoutMethodRegistry;

/**
 * The meter {@code timingwheel.timeouts}: the calls that exceeded their limit, by class
 * and method. Each method with a limit has a counter, also before its first timeout. The
 * class is the full name, since classes of several packages may have the same simple
 * name.
 *
 * @since 0.1
 */
public class TimeoutMetrics implements MeterBinder {

	private final TimeoutMethodRegistry methods;

	/** Creates the binder for the methods with a limit. */
	public TimeoutMetrics(TimeoutMethodRegistry methods) {
		this.methods = methods;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		this.methods.methods().forEach((method) -> counter(registry, method));
		this.methods.onTimeout((method) -> counter(registry, method).increment());
	}

	private static Counter counter(MeterRegistry registry, Method method) {
		Class<?> type = method.getDeclaringClass();
		return Counter.builder("timingwheel.timeouts")
			.description("Calls that exceeded their limit")
			.baseUnit("calls")
			.tag("class", type.getName())
			.tag("method", type.getSimpleName() + "." + method.getName())
			.register(registry);
	}

}
