package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.timeout.TimeoutOverrides;
import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.util.Assert;

/**
 * The properties {@code timingwheel.timeout.limits.<bean>.<method>}. They are bound as
 * texts, since a name with dots is then one key.
 */
final class TimeoutLimitProperties implements TimeoutOverrides {

	private static final String PREFIX = "timingwheel.timeout.limits";

	private final NamedSettings<Duration> limits;

	/**
	 * Reads and checks the properties.
	 * @param environment the source of the properties
	 * @throws InvalidConfigurationPropertyValueException if a value is not valid
	 */
	TimeoutLimitProperties(Environment environment) {
		Map<String, Duration> limits = new LinkedHashMap<>();
		Binder.get(environment)
			.bind(PREFIX, Bindable.mapOf(String.class, String.class))
			.orElse(Map.of())
			.forEach((name, text) -> PropertyChecks.pass(PREFIX + "." + name, text,
					(value) -> limits.put(name, positive(AttributeResolver.toDuration(value)))));
		this.limits = new NamedSettings<>(limits, (earlier, later) -> earlier);
	}

	private static Duration positive(Duration limit) {
		Assert.isTrue(!limit.isNegative() && !limit.isZero(), "it must be positive, such as 800ms");
		return limit;
	}

	@Override
	public @Nullable Duration find(String beanName, String methodName) {
		return this.limits.find(beanName + "." + methodName);
	}

	@Override
	public void checkNames(Set<String> names) {
		this.limits.warnOfUnknown(names,
				PREFIX + ".%s has no effect, because no bean has a method with @Timeout of this name%s");
	}

}
