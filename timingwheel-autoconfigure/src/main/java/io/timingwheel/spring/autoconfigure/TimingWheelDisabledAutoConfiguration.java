package io.timingwheel.spring.autoconfigure;

import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.autoconfigure.internal.BoundPropertyCondition;
import io.timingwheel.spring.autoconfigure.internal.OnTimingWheelEnabled;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Role;

/**
 * Auto-configuration of a warning, if {@code timingwheel.enabled} is {@code false}.
 *
 * @since 0.1
 */
@AutoConfiguration
@Conditional(TimingWheelDisabledAutoConfiguration.OnTimingWheelDisabled.class)
public final class TimingWheelDisabledAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AnnotatedMethodScanner timingWheelAnnotatedMethodScanner() {
		return new AnnotatedMethodScanner();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DisabledAnnotationsWarning timingWheelDisabledAnnotationsWarning() {
		return new DisabledAnnotationsWarning();
	}

	static class OnTimingWheelDisabled extends BoundPropertyCondition<Boolean> {

		OnTimingWheelDisabled() {
			super(OnTimingWheelEnabled.PROPERTY, false, true);
		}

	}

}
