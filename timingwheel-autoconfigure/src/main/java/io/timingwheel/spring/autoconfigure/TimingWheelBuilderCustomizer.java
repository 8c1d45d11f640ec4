package io.timingwheel.spring.autoconfigure;

import io.timingwheel.TimingWheel;

/**
 * Adjusts the wheel beyond what the {@code timingwheel.*} properties offer: the number of
 * slots per level and of shards, its thread factory or its error handler. The
 * auto-configuration applies the properties and then calls the beans of this type in
 * their order.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface TimingWheelBuilderCustomizer {

	void customize(TimingWheel.Builder builder);

}
