package io.timingwheel.spring.autoconfigure;

import java.util.List;

import io.timingwheel.spring.aop.AnnotatedMethodScanner;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/**
 * The scan for methods with the annotations of timingwheel.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class AnnotatedMethodConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AnnotatedMethodScanner timingWheelAnnotatedMethodScanner(List<AnnotatedMethodScanner.Reader> readers) {
		return new AnnotatedMethodScanner(readers);
	}

}
