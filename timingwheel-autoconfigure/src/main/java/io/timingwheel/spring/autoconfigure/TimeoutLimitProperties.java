package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.timeout.TimeoutOverrides;
import io.timingwheel.spring.autoconfigure.internal.PropertyChecks;
import io.timingwheel.spring.task.support.RelaxedNames;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * The properties {@code timingwheel.timeout.limits.<bean>.<method>}. Only the letters and
 * digits of a name count, and not their case.
 */
final class TimeoutLimitProperties implements TimeoutOverrides {

	static final String PREFIX = "timingwheel.timeout.limits";

	private static final Log logger = LogFactory.getLog(TimeoutLimitProperties.class);

	/** The limits by the names as they are in the properties. */
	private final Map<String, Duration> limits = new TreeMap<>();

	private final Map<String, Duration> byUniformName = new HashMap<>();

	/**
	 * Reads and checks the properties.
	 * @param environment the source of the properties
	 * @throws InvalidConfigurationPropertyValueException if a value is not valid
	 */
	TimeoutLimitProperties(Environment environment) {
		// As texts, because a name with dots is then one key. The binder would read a map
		// of durations as nested maps.
		Map<String, String> texts = Binder.get(environment)
			.bind(PREFIX, Bindable.mapOf(String.class, String.class))
			.orElse(Map.of());
		texts.forEach((name, text) -> {
			Duration limit = parse(PREFIX + "." + name, text);
			this.limits.put(name, limit);
			this.byUniformName.put(RelaxedNames.uniform(name), limit);
		});
	}

	private static Duration parse(String property, String text) {
		Duration limit;
		try {
			limit = AttributeResolver.toDuration(text);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException(property, text, String.valueOf(ex.getMessage()));
		}
		PropertyChecks.check(!limit.isNegative() && !limit.isZero(), property, text,
				"it must be positive, such as 800ms");
		return limit;
	}

	@Override
	public @Nullable Duration find(String beanName, String methodName) {
		String name = beanName + "." + methodName;
		Duration exact = this.limits.get(name);
		return (exact != null) ? exact : this.byUniformName.get(RelaxedNames.uniform(name));
	}

	@Override
	public void checkNames(Set<String> names) {
		for (String name : this.limits.keySet()) {
			if (!RelaxedNames.contains(names, name)) {
				logger.warn("%s.%s has no effect, because no bean has a method with @Timeout of this name%s".formatted(
						PREFIX, name,
						RelaxedNames.nearest(names, name, 1)
							.stream()
							.map((nearest) -> ". The nearest name is " + nearest)
							.collect(Collectors.joining())));
			}
		}
	}

}
