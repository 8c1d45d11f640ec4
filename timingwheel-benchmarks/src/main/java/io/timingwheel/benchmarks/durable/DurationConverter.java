package io.timingwheel.benchmarks.durable;

import java.time.Duration;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

import org.springframework.boot.convert.DurationStyle;

/**
 * Reads durations such as {@code 5ms} and {@code 10m}.
 */
final class DurationConverter implements ITypeConverter<Duration> {

	@Override
	public Duration convert(String value) {
		try {
			return DurationStyle.detectAndParse(value);
		}
		catch (IllegalArgumentException ex) {
			throw new TypeConversionException("'" + value + "' is not a duration such as 5ms, 90s or 10m");
		}
	}

}
