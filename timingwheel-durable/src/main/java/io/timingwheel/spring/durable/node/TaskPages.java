package io.timingwheel.spring.durable.node;

import java.util.Comparator;
import java.util.List;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.ListQuery.Page;
import io.timingwheel.spring.durable.store.StoredTask;
import org.jspecify.annotations.Nullable;

/**
 * Reads pages of the tasks of a name and of the earlier names of its method. Thread-safe.
 */
public record TaskPages(DelayedTaskStore store, DurableHandlers handlers) {

	private static final Comparator<StoredTask> BY_TIME = Comparator
		.comparingLong((StoredTask task) -> task.position().time())
		.thenComparing(StoredTask::id);

	/** What a store gives at most, and so a call. */
	private static final int MAX_LIMIT = 5000;

	public Page read(String name, Order order, StoredTask.@Nullable Position after, int limit) {
		int most = Math.min(limit, MAX_LIMIT);
		List<Page> pages = this.handlers.allNames(name)
			.stream()
			.map((each) -> this.store.list(new ListQuery(each, order, after, most)))
			.toList();
		if (pages.size() == 1) {
			return pages.get(0);
		}
		List<StoredTask> tasks = pages.stream()
			.flatMap((page) -> page.tasks().stream())
			.sorted((order == Order.DEAD_LATEST_FIRST) ? BY_TIME.reversed() : BY_TIME)
			.toList();
		return new Page(tasks.subList(0, Math.min(most, tasks.size())),
				tasks.size() > most || pages.stream().anyMatch(Page::more));
	}

}
