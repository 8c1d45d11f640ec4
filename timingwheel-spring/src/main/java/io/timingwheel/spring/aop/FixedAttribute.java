package io.timingwheel.spring.aop;

import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * An attribute of an annotation that has one value for all calls. If its text holds a
 * bean expression, the beans may not exist yet when the annotation is read. Only the
 * syntax of the expression is then checked, and the value is resolved at its first use.
 * Any other text is resolved at once. Thread-safe.
 *
 * @param <T> the type of the value
 * @since 0.1
 */
public final class FixedAttribute<T> {

	private final String text;

	private final AttributeResolver attributes;

	private final Function<String, T> resolution;

	private final Function<IllegalArgumentException, InvalidAnnotatedMethodException> failure;

	private volatile @Nullable T value;

	FixedAttribute(String text, AttributeResolver attributes, Function<String, T> resolution,
			Function<IllegalArgumentException, InvalidAnnotatedMethodException> failure) {
		this.text = text;
		this.attributes = attributes;
		this.resolution = resolution;
		this.failure = failure;
		if (!needsBeans()) {
			resolve();
		}
	}

	/**
	 * Returns the value. May instantiate beans if the text holds a bean expression.
	 * @return the value
	 * @throws InvalidAnnotatedMethodException if the text gives no such value
	 */
	public T get() {
		T value = this.value;
		return (value != null) ? value : resolve();
	}

	/**
	 * Returns whether the value is known.
	 * @return whether {@link #get} needs no beans
	 */
	public boolean isResolved() {
		return this.value != null;
	}

	private T resolve() {
		try {
			T value = this.resolution.apply(this.text);
			this.value = value;
			return value;
		}
		catch (IllegalArgumentException ex) {
			throw this.failure.apply(ex);
		}
	}

	private boolean needsBeans() {
		try {
			return this.attributes.needsBeans(this.text);
		}
		catch (IllegalArgumentException ex) {
			throw this.failure.apply(ex);
		}
	}

}
