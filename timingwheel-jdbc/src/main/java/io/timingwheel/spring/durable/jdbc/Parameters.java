package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The parameters of statements. A list of values has one of few lengths, so that
 * statements can be cached. The last value fills the rest of the list.
 */
final class Parameters {

	private Parameters() {
	}

	/**
	 * Parameters of which some may be {@code null}.
	 */
	static Object[] of(@Nullable Object... values) {
		return Arrays.asList(values).toArray();
	}

	/**
	 * The condition that a column has one of the values in a list.
	 * @param size the number of values for {@link #list} or {@link #addList}
	 */
	static String isOneOf(int size) {
		return (size <= 1) ? " = ?" : " in (" + String.join(", ", Collections.nCopies(paddedSize(size), "?")) + ")";
	}

	/**
	 * The parameters of a statement that has only the values for {@link #isOneOf}.
	 */
	static Object[] list(Collection<?> values) {
		List<@Nullable Object> parameters = new ArrayList<>();
		addList(parameters, values);
		return parameters.toArray();
	}

	/**
	 * Adds the values for {@link #isOneOf}.
	 */
	static void addList(List<@Nullable Object> parameters, Collection<?> values) {
		Object last = "";
		for (Object value : values) {
			parameters.add(value);
			last = value;
		}
		parameters.addAll(Collections.nCopies(paddedSize(values.size()) - values.size(), last));
	}

	/**
	 * A size rounded up to a power of two.
	 */
	static int paddedSize(int size) {
		return (size <= 1) ? 1 : Integer.highestOneBit(size - 1) << 1;
	}

}
