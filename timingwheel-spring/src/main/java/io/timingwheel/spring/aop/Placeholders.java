package io.timingwheel.spring.aop;

import java.lang.reflect.Method;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.env.Environment;

/**
 * Resolves placeholders in attributes, also before the context has a resolver for them.
 */
public final class Placeholders {

	private static final String PREFIX = "${";

	private final ConfigurableBeanFactory beanFactory;

	/**
	 * Creates a resolver.
	 * @param beanFactory knows the properties
	 */
	public Placeholders(ConfigurableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Resolves the text of an attribute.
	 * @param method the method that bears the annotation
	 * @param attribute where the text stands, for messages
	 * @param text the text
	 * @return the text without placeholders
	 * @throws InvalidAnnotatedMethodException if a property is missing
	 */
	public String resolve(Method method, String attribute, String text) {
		try {
			return resolve(text);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method,
					"%s is \"%s\": %s".formatted(attribute, text, ex.getMessage()),
					"set the property, or give the placeholder a default", ex);
		}
	}

	/**
	 * Resolves a text.
	 * @throws IllegalArgumentException if a property is missing
	 */
	String resolve(String text) {
		if (!text.contains(PREFIX)) {
			return text;
		}
		String resolved = this.beanFactory.hasEmbeddedValueResolver() ? this.beanFactory.resolveEmbeddedValue(text)
				: this.beanFactory.getBean(Environment.class).resolveRequiredPlaceholders(text);
		return (resolved != null) ? resolved : "";
	}

}
