package io.timingwheel.spring.durable.support;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.timingwheel.spring.durable.DeadQuery;
import io.timingwheel.spring.durable.DeadTask;
import io.timingwheel.spring.durable.DeadTasks;
import io.timingwheel.spring.durable.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

/**
 * Reads the dead tasks of a name, and of the earlier names of its handler, in the order
 * of their deaths. Thread-safe.
 */
final class DeadReader {

	private static final Comparator<DeadTask> BY_DEATH = Comparator.comparingLong(DeadTask::diedAt)
		.thenComparing(DeadTask::id);

	private final DelayedTaskStore store;

	private final DurableHandlerRegistry handlers;

	DeadReader(DelayedTaskStore store, DurableHandlerRegistry handlers) {
		this.store = store;
		this.handlers = handlers;
	}

	/**
	 * Reads a page.
	 * @param after the last task of the page before, {@code null} for the first page
	 */
	DeadTasks read(String name, boolean latestFirst, DeadTask.@Nullable Position after, int limit) {
		List<DeadTasks> pages = this.handlers.allNames(name)
			.stream()
			.map((each) -> this.store.dead(new DeadQuery(each, latestFirst, after, limit)))
			.toList();
		return (pages.size() == 1) ? pages.get(0) : merge(pages, latestFirst ? BY_DEATH.reversed() : BY_DEATH, limit);
	}

	/**
	 * The first tasks of several pages. After the last task of a page that has more, a
	 * task that was not read may be the next one.
	 */
	private static DeadTasks merge(List<DeadTasks> pages, Comparator<DeadTask> order, int limit) {
		List<DeadTask> all = new ArrayList<>();
		pages.forEach((page) -> all.addAll(page.tasks()));
		all.sort(order);
		int end = Math.min(limit, all.size());
		for (DeadTasks page : pages) {
			if (page.more()) {
				end = Math.min(end, all.indexOf(page.tasks().get(page.tasks().size() - 1)) + 1);
			}
		}
		boolean more = end < all.size() || pages.stream().anyMatch(DeadTasks::more);
		return new DeadTasks(List.copyOf(all.subList(0, end)), more);
	}

}
