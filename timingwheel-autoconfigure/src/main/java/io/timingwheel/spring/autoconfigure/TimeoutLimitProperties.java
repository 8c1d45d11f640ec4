package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.aop.internal.MethodAttributes;
import io.timingwheel.spring.aop.internal.TimeoutMethodRegistry;
import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.Assert;

/**
 * The properties {@code timingwheel.timeout.order} and
 * {@code timingwheel.timeout.limits.<bean>.<method>}. Limits are bound as texts, since a
 * name with dots is then one key.
 */
final class TimeoutLimitProperties implements TimeoutMethodRegistry.Overrides {

	private static final String PREFIX = "timingwheel.timeout.limits";

	private final NamedSettings<Duration> limits;

	private final int adviceOrder;

	TimeoutLimitProperties(Environment environment) {
		Map<String, Duration> limits = new LinkedHashMap<>();
		Binder binder = Binder.get(environment);
		this.adviceOrder = binder.bind("timingwheel.timeout.order", Integer.class).orElse(DEFAULT_ORDER);
		binder.bind(PREFIX, Bindable.mapOf(String.class, String.class))
			.orElse(Map.of())
			.forEach((name, text) -> PropertyChecks.pass(PREFIX + "." + name, text,
					(value) -> limits.put(name, positive(MethodAttributes.toDuration(value)))));
		this.limits = new NamedSettings<>(limits, (earlier, later) -> earlier);
	}

	private static Duration positive(Duration limit) {
		Assert.isTrue(!limit.isNegative() && !limit.isZero(), "it must be positive, such as 800ms");
		return limit;
	}

	@Override
	public int adviceOrder() {
		return this.adviceOrder;
	}

	@Override
	public @Nullable Duration find(String beanName, String methodName) {
		return this.limits.find(beanName + "." + methodName);
	}

	@Override
	public void checkNames(Set<String> names) {
		this.limits.warnOfUnknown(names, PREFIX
				+ ".%s has no effect, because no bean has a method with @Timeout of this name. The names are %s");
	}

}
