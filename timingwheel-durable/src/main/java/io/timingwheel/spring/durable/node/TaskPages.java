package io.timingwheel.spring.durable.node;

import java.util.ArrayList;
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
 *
 * @since 0.1
 */
public final class TaskPages {

	private static final Comparator<StoredTask> BY_TIME = Comparator
		.comparingLong((StoredTask task) -> task.position().time())
		.thenComparing(StoredTask::id);

	/** How many tasks one request reads at most. */
	private static final int PAGE = 1000;

	private final DelayedTaskStore store;

	private final DurableHandlers handlers;

	public TaskPages(DelayedTaskStore store, DurableHandlers handlers) {
		this.store = store;
		this.handlers = handlers;
	}

	public Page read(String name, Order order, StoredTask.@Nullable Position after, int limit) {
		List<Page> pages = this.handlers.allNames(name)
			.stream()
			.map((each) -> this.store.list(new ListQuery(each, order, after, limit)))
			.toList();
		return (pages.size() == 1) ? pages.get(0)
				: merge(pages, (order == Order.DEAD_LATEST_FIRST) ? BY_TIME.reversed() : BY_TIME, limit);
	}

	/** After the last task of a page that has more, one that was not read may be next. */
	private static Page merge(List<Page> pages, Comparator<StoredTask> order, int limit) {
		List<StoredTask> all = new ArrayList<>();
		pages.forEach((page) -> all.addAll(page.tasks()));
		all.sort(order);
		int end = Math.min(limit, all.size());
		for (Page page : pages) {
			if (page.more()) {
				end = page.tasks().isEmpty() ? 0
						: Math.min(end, all.indexOf(page.tasks().get(page.tasks().size() - 1)) + 1);
			}
		}
		return new Page(List.copyOf(all.subList(0, end)), end < all.size() || pages.stream().anyMatch(Page::more));
	}

	/** Gives fewer than the limit only if there are no more. */
	public List<StoredTask> first(String name, Order order, StoredTask.@Nullable Position after, int limit) {
		List<StoredTask> tasks = new ArrayList<>();
		Page page;
		do {
			page = read(name, order, tasks.isEmpty() ? after : tasks.get(tasks.size() - 1).position(),
					Math.min(PAGE, limit - tasks.size()));
			tasks.addAll(page.tasks());
		}
		while (page.more() && !page.tasks().isEmpty() && tasks.size() < limit);
		return tasks;
	}

}
