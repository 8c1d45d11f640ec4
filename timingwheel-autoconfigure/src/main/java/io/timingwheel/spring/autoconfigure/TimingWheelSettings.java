package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import io.timingwheel.TimingWheel;

import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Applies the properties to the wheel's builder, and checks the others: errors name the
 * property.
 */
final class TimingWheelSettings {

	private final TimingWheelProperties properties;

	TimingWheelSettings(TimingWheelProperties properties) {
		this.properties = properties;
	}

	void applyTo(TimingWheel.Builder builder) {
		PropertyMapper map = PropertyMapper.get();
		map.from(this.properties::getTick).to((tick) -> apply("tick", tick, () -> builder.tick(tick)));
		map.from(this.properties::getWheelSize)
			.to((wheelSize) -> apply("wheel-size", wheelSize, () -> builder.wheelSize(wheelSize)));
		map.from(this.properties::getShards).to((shards) -> apply("shards", shards, () -> builder.shards(shards)));
		map.from(this.properties::getMaxPending)
			.to((limit) -> apply("max-pending", limit, () -> builder.maxPending(limit)));
	}

	/**
	 * Checks what is not the wheel's, which may be one of the application's own.
	 */
	void check() {
		Duration period = this.properties.getShutdown().getAwaitTerminationPeriod();
		if (period.isNegative()) {
			throw invalid("shutdown.await-termination-period", period, "it must not be negative: 0s waits for nothing");
		}
		Duration maxLag = this.properties.getHealth().getMaxLag();
		if (maxLag.isNegative() || maxLag.isZero()) {
			throw invalid("health.max-lag", maxLag, "it must be positive, such as 1s");
		}
	}

	private static void apply(String name, Object value, Runnable setter) {
		try {
			setter.run();
		}
		catch (IllegalArgumentException ex) {
			throw invalid(name, value, String.valueOf(ex.getMessage()));
		}
	}

	private static InvalidConfigurationPropertyValueException invalid(String name, Object value, String reason) {
		return new InvalidConfigurationPropertyValueException("timingwheel." + name, value, reason);
	}

}
