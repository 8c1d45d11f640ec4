package io.timingwheel.spring.autoconfigure.internal;

/**
 * Matches unless {@code timingwheel.enabled} is {@code false}.
 *
 * @since 0.1
 */
public class OnTimingWheelEnabled extends BoundPropertyCondition<Boolean> {

	/** The name of the property. */
	public static final String PROPERTY = "timingwheel.enabled";

	/**
	 * Creates the condition.
	 */
	public OnTimingWheelEnabled() {
		super(PROPERTY, true, true);
	}

}
