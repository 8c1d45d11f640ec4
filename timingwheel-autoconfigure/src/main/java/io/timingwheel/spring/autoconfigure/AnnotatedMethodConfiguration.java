package io.timingwheel.spring.autoconfigure;

import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.CreatedBeans;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/**
 * The scan for methods with the annotations of timingwheel, and the check that their
 * beans get the advice.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class AnnotatedMethodConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CreatedBeans timingWheelCreatedBeans() {
		return new CreatedBeans();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AnnotatedMethodScanner timingWheelAnnotatedMethodScanner(CreatedBeans timingWheelCreatedBeans) {
		return new AnnotatedMethodScanner(timingWheelCreatedBeans);
	}

}
