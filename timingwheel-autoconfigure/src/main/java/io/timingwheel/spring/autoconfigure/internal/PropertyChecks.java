package io.timingwheel.spring.autoconfigure.internal;

import java.time.Duration;
import java.util.function.Consumer;

import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.Assert;

/** Refuses invalid values of properties, with a message that names the property. */
public final class PropertyChecks {

	private PropertyChecks() {
	}

	/** Refuses the value of a property, by its full name, unless it is valid. */
	public static void check(boolean valid, String name, Object value, String reason) {
		pass(name, value, (any) -> Assert.isTrue(valid, reason));
	}

	/**
	 * Passes the value of a property to a consumer, which throws an
	 * {@link IllegalArgumentException} for an invalid value. Skips {@code null}.
	 */
	public static <T> void pass(String name, @Nullable T value, Consumer<T> consumer) {
		if (value == null) {
			return;
		}
		try {
			consumer.accept(value);
		}
		catch (IllegalArgumentException ex) {
			// People write 200ms, not PT0.2S.
			Object readable = (value instanceof Duration duration)
					? DurationFormatterUtils.print(duration, DurationFormat.Style.COMPOSITE) : value;
			throw new InvalidConfigurationPropertyValueException(name, readable, String.valueOf(ex.getMessage()));
		}
	}

	/**
	 * Checks the parts of a backoff one by one, so that the message names the property.
	 */
	public static BackoffSettings backoff(String prefix, @Nullable Duration initial, @Nullable Double multiplier,
			@Nullable Duration max, @Nullable Double jitter) {
		pass(prefix + ".initial", initial, (value) -> new BackoffSettings(value, null, null, null));
		pass(prefix + ".multiplier", multiplier, (value) -> new BackoffSettings(null, value, null, null));
		pass(prefix + ".max", max, (value) -> new BackoffSettings(initial, null, value, null).checkOrder());
		pass(prefix + ".jitter", jitter, (value) -> new BackoffSettings(null, null, null, value));
		return new BackoffSettings(initial, multiplier, max, jitter);
	}

}
