package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.env.Environment;

/**
 * Resolves placeholders in attributes, also before the context has a resolver for them.
 */
final class Placeholders {

	private static final String PREFIX = "${";

	private final ConfigurableBeanFactory beanFactory;

	Placeholders(ConfigurableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	String resolve(Method method, String attribute, String text) {
		if (!text.contains(PREFIX)) {
			return text;
		}
		try {
			String resolved = this.beanFactory.hasEmbeddedValueResolver() ? this.beanFactory.resolveEmbeddedValue(text)
					: this.beanFactory.getBean(Environment.class).resolveRequiredPlaceholders(text);
			return (resolved != null) ? resolved : "";
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method,
					"%s is \"%s\": %s".formatted(attribute, text, ex.getMessage()),
					"set the property, or give the placeholder a default", ex);
		}
	}

}
