package io.timingwheel.spring.aop.internal;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/**
 * The search for annotated methods, and the check that their beans get the advice.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class AnnotatedMethodConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static AnnotatedBeans timingWheelAnnotatedBeans() {
		return new AnnotatedBeans();
	}

	/** Comes after other post-processors, which may change definitions. */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static BeanFactoryPostProcessor timingWheelDefinitionReader(AnnotatedBeans timingWheelAnnotatedBeans) {
		return timingWheelAnnotatedBeans::readDefinitions;
	}

}
