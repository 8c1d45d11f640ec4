package io.timingwheel.spring.aop.internal.timeout;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

/**
 * The advice of {@link Timeout}. The parameters have the names of beans, which Spring
 * finds without instantiating a {@code FactoryBean}.
 */
@Configuration(proxyBeanMethods = false)
@Import(AnnotatedBeans.Setup.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class TimeoutMethodConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutMethodRegistry timingWheelTimeoutMethods(AnnotatedBeans timingWheelAnnotatedBeans,
			TimeoutMethodRegistry.Overrides timingWheelTimeoutOverrides) {
		return new TimeoutMethodRegistry(timingWheelAnnotatedBeans, timingWheelTimeoutOverrides);
	}

}
