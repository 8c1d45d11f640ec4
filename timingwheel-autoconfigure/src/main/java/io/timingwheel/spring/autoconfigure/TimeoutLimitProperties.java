package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.timeout.TimeoutOverrides;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * The properties {@code timingwheel.timeout.limits.<bean>.<method>}. Only the letters and
 * digits of a name count, and not their case, because environment variables and other
 * sources of properties cannot write every name.
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
			this.byUniformName.put(uniform(name), limit);
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
		return (exact != null) ? exact : this.byUniformName.get(uniform(name));
	}

	@Override
	public void checkNames(Set<String> names) {
		for (String name : this.limits.keySet()) {
			if (names.stream().noneMatch((candidate) -> uniform(candidate).equals(uniform(name)))) {
				logger.warn("%s.%s has no effect, because no bean has a method with @Timeout of this name%s"
					.formatted(PREFIX, name, nearest(name, names)));
			}
		}
	}

	private static String nearest(String name, Set<String> names) {
		return names.stream()
			.min(Comparator.<String>comparingInt((candidate) -> distance(uniform(name), uniform(candidate)))
				.thenComparing(Comparator.naturalOrder()))
			.map((candidate) -> ". The nearest name is " + candidate)
			.orElse("");
	}

	private static String uniform(String name) {
		return name.chars()
			.filter(Character::isLetterOrDigit)
			.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
			.toString()
			.toLowerCase(Locale.ROOT);
	}

	/**
	 * Returns the Levenshtein distance.
	 */
	private static int distance(String first, String second) {
		int[] row = IntStream.rangeClosed(0, second.length()).toArray();
		for (int i = 1; i <= first.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j <= second.length(); j++) {
				int replace = diagonal + ((first.charAt(i - 1) != second.charAt(j - 1)) ? 1 : 0);
				diagonal = row[j];
				row[j] = Math.min(replace, 1 + Math.min(row[j], row[j - 1]));
			}
		}
		return row[second.length()];
	}

}
