package io.timingwheel.spring.actuate;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names the observation of delayed tasks and its keys. A bean of this type replaces
 * {@link DefaultDelayedTaskObservationConvention}.
 *
 * @since 0.1
 */
public interface DelayedTaskObservationConvention extends ObservationConvention<DelayedTaskObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof DelayedTaskObservationContext;
	}

}
