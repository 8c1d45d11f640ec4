package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * What a script has returned.
 */
final class Fields {

	private final List<?> values;

	Fields(List<?> values) {
		this.values = values;
	}

	int size() {
		return this.values.size();
	}

	boolean isAbsent() {
		return this.values.isEmpty() || (this.values.size() == 1 && this.values.get(0) == null);
	}

	long number(int index) {
		Object value = this.values.get(index);
		Assert.state(value instanceof Long, "The reply of Redis is not a number");
		return (Long) value;
	}

	int integer(int index) {
		return Math.toIntExact(number(index));
	}

	boolean flag(int index) {
		return number(index) == 1;
	}

	String text(int index) {
		String text = textOrNull(index);
		Assert.state(text != null, "The reply of Redis is not a text");
		return text;
	}

	@Nullable String textOrNull(int index) {
		Object value = this.values.get(index);
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : null;
	}

	Fields fields(int index) {
		Object value = this.values.get(index);
		Assert.state(value instanceof List, "The reply of Redis is not a list");
		return new Fields((List<?>) value);
	}

}
