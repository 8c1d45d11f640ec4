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
	 * @param size the number of values for {@link #and}
	 */
	static String isOneOf(int size) {
		return (size <= 1) ? " = ?" : " in (" + String.join(", ", Collections.nCopies(paddedSize(size), "?")) + ")";
	}

	/**
	 * Parameters, and after them the values for {@link #isOneOf}.
	 * @param list the values for the condition
	 * @param before the parameters before them
	 */
	static Object[] and(Collection<?> list, @Nullable Object... before) {
		List<@Nullable Object> parameters = new ArrayList<>(Arrays.asList(before));
		Object last = "";
		for (Object value : list) {
			parameters.add(value);
			last = value;
		}
		parameters.addAll(Collections.nCopies(paddedSize(list.size()) - list.size(), last));
		return parameters.toArray();
	}

	/**
	 * A size rounded up to a power of two.
	 */
	static int paddedSize(int size) {
		return (size <= 1) ? 1 : Integer.highestOneBit(size - 1) << 1;
	}

}
