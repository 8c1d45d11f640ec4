package io.timingwheel.spring.autoconfigure;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Properties by the names of methods or tasks. Only the letters and digits of a name
 * count, and not their case.
 */
final class NamedSettings<T> {

	private static final Log logger = LogFactory.getLog(NamedSettings.class);

	private final Set<String> names;

	private final Map<String, T> byUniformName = new HashMap<>();

	/**
	 * Boot's binder lists the settings of the source with the highest precedence first.
	 */
	NamedSettings(Map<String, T> settings, BinaryOperator<T> merger) {
		this.names = settings.keySet();
		settings.forEach((name, value) -> this.byUniformName.merge(uniform(name), value, merger));
	}

	@Nullable T find(String name) {
		return this.byUniformName.isEmpty() ? null : this.byUniformName.get(uniform(name));
	}

	void warnOfUnknown(Set<String> known, String warning) {
		Set<String> uniform = known.stream().map(NamedSettings::uniform).collect(Collectors.toSet());
		for (String name : this.names) {
			if (!uniform.contains(uniform(name))) {
				logger.warn(warning.formatted(name, new TreeSet<>(known)));
			}
		}
	}

	/** The form that all spellings of a name have in common. */
	private static String uniform(String name) {
		return name.replaceAll("[^\\p{L}\\p{Nd}]", "").toLowerCase(Locale.ROOT);
	}

}
