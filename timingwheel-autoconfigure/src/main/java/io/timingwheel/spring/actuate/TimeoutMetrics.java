package io.timingwheel.spring.actuate;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.timingwheel.spring.aop.internal.timeout.TimeoutListener;
import io.timingwheel.spring.aop.internal.timeout.TimeoutMethodRegistry;

/**
 * The meter {@code timingwheel.timeouts}: the calls that exceeded their limit, by class
 * and method. Each method with a limit has a counter, also before its first timeout. The
 * class is the full name, since classes of several packages may have the same simple
 * name.
 *
 * @since 0.1
 */
public class TimeoutMetrics implements MeterBinder, TimeoutListener {

	private final TimeoutMethodRegistry methods;

	private final List<MeterRegistry> registries = new CopyOnWriteArrayList<>();

	/**
	 * Creates the binder.
	 * @param methods the methods with a time limit
	 */
	public TimeoutMetrics(TimeoutMethodRegistry methods) {
		this.methods = methods;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		this.registries.add(registry);
		this.methods.onMethod((method) -> counter(registry, method));
	}

	@Override
	public void timedOut(Method method) {
		this.registries.forEach((registry) -> counter(registry, method).increment());
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
