package io.timingwheel.spring.autoconfigure;

import io.timingwheel.TimingWheel;

/**
 * Adjusts the wheel beyond what the {@code timingwheel.*} properties offer, such as its
 * thread factory or its error handler. Beans of this type are called in their order,
 * after the properties were applied.
 */
@FunctionalInterface
public interface TimingWheelCustomizer {

	/**
	 * Adjusts the builder of the wheel.
	 * @param builder the builder, with the properties applied
	 */
	void customize(TimingWheel.Builder builder);

}
