package io.timingwheel.spring.autoconfigure.internal;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if a property has a value. Binds the property, as Spring Boot binds the fields
 * of configuration properties. A boolean may therefore be {@code yes}, {@code on} or
 * {@code 1}, and a value that is no boolean stops the start. With
 * {@code @ConditionalOnBooleanProperty} such values would silently count as
 * {@code false}.
 *
 * @param <T> the type of the property
 * @since 0.1
 */
public abstract class BoundPropertyCondition<T> extends SpringBootCondition {

	private final String name;

	private final T expected;

	private final @Nullable T defaultValue;

	/**
	 * Creates a condition.
	 * @param name the full name of the property
	 * @param expected the value that matches
	 * @param defaultValue the value if the property is missing, {@code null} for none
	 */
	protected BoundPropertyCondition(String name, T expected, @Nullable T defaultValue) {
		this.name = name;
		this.expected = expected;
		this.defaultValue = defaultValue;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		Object value = Binder.get(context.getEnvironment())
			.bind(this.name, this.expected.getClass())
			.map(Object.class::cast)
			.orElse(this.defaultValue);
		return new ConditionOutcome(this.expected.equals(value),
				ConditionMessage.of("%s is %s".formatted(this.name, value)));
	}

}
