package io.timingwheel.spring.autoconfigure.internal;

import java.time.Duration;
import java.util.function.Consumer;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Refuses invalid values of properties, with a message that names the property.
 *
 * @since 0.1
 */
public final class PropertyChecks {

	private PropertyChecks() {
	}

	/**
	 * Refuses a value unless it is valid.
	 * @param valid whether the value is valid
	 * @param name the full name of the property
	 * @param value the value
	 * @param reason why such a value is not valid
	 * @throws InvalidConfigurationPropertyValueException if the value is not valid
	 */
	public static void check(boolean valid, String name, Object value, String reason) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException(name, readable(value), reason);
		}
	}

	/**
	 * Passes a value to a consumer that checks the value itself.
	 * @param name the full name of the property
	 * @param value the value
	 * @param consumer throws an {@link IllegalArgumentException} for an invalid value
	 * @param <T> the type of the value
	 * @throws InvalidConfigurationPropertyValueException if the value is not valid
	 */
	public static <T> void pass(String name, T value, Consumer<T> consumer) {
		try {
			consumer.accept(value);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException(name, readable(value),
					String.valueOf(ex.getMessage()));
		}
	}

	/**
	 * Shows a duration as people write it: {@code 200ms}, not {@code PT0.2S}.
	 */
	private static Object readable(Object value) {
		return (value instanceof Duration duration)
				? DurationFormatterUtils.print(duration, DurationFormat.Style.COMPOSITE) : value;
	}

}
