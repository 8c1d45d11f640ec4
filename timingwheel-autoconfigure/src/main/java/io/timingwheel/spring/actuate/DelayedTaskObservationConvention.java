package io.timingwheel.spring.actuate;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names the observation of delayed tasks and its keys. A bean of this type takes the
 * place of {@link DefaultDelayedTaskObservationConvention}.
 */
public interface DelayedTaskObservationConvention extends ObservationConvention<DelayedTaskObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof DelayedTaskObservationContext;
	}

}
