package io.timingwheel.spring.durable.store;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The request for a page of the pending or of the dead tasks of a name.
 *
 * @param after the position of the last task of the page before; {@code null} for the
 * first page
 * @param limit the largest number of tasks, from 1 to 5,000
 * @since 0.1
 */
public record ListQuery(String name, Order order, StoredTask.@Nullable Position after, int limit) {

	public enum Order {

		/** The one that is due first comes first. */
		PENDING,

		/** The one that died last comes first. */
		DEAD_LATEST_FIRST

	}

	/**
	 * A page, in the order of the query. It has fewer tasks than asked for only if there
	 * are no more.
	 *
	 * @param more whether there are more tasks after these
	 */
	public record Page(List<StoredTask> tasks, boolean more) {

	}

}
