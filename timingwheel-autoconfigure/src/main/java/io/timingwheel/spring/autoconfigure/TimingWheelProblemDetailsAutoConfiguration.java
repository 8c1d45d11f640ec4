package io.timingwheel.spring.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the responses to requests that end with an uncaught
 * {@link io.timingwheel.spring.annotation.MethodTimeoutException}, in Spring MVC and
 * WebFlux.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnWebApplication
@ConditionalOnBooleanProperty(name = { "timingwheel.enabled", "timingwheel.timeout.problem-details" },
		matchIfMissing = true)
public final class TimingWheelProblemDetailsAutoConfiguration {

	@Bean
	TimeoutAdvice timingWheelTimeoutAdvice(ApplicationContext messages) {
		return new TimeoutAdvice(messages);
	}

}
