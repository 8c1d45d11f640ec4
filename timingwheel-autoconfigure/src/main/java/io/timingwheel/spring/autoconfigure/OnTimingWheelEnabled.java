package io.timingwheel.spring.autoconfigure;

/**
 * Matches unless {@code timingwheel.enabled} is {@code false}.
 */
class OnTimingWheelEnabled extends BoundPropertyCondition<Boolean> {

	static final String PROPERTY = "timingwheel.enabled";

	OnTimingWheelEnabled() {
		super(PROPERTY, true, true);
	}

}
