package io.timingwheel.spring.durable.node;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.ListQuery.Page;
import io.timingwheel.spring.durable.store.StoredTask;
import org.jspecify.annotations.Nullable;

/**
 * What this node can run, by names and aliases, and the stored tasks under all names of a
 * method. Thread-safe.
 */
public final class DurableHandlers {

	private static final Comparator<StoredTask> BY_TIME = Comparator
		.comparingLong((StoredTask task) -> task.position().time())
		.thenComparing(StoredTask::id);

	/** What a store gives at most, and so a call. */
	private static final int MAX_LIMIT = 5000;

	private volatile Map<String, DurableHandler> handlers = Map.of();

	/**
	 * Adds the handler of a method, or gives the one that the method has already. No
	 * other method has one of its names.
	 */
	public synchronized DurableHandler register(DurableHandler handler) {
		DurableHandler known = find(handler.name());
		if (known != null) {
			return known;
		}
		Map<String, DurableHandler> extended = new HashMap<>(this.handlers);
		handler.names().forEach((name) -> extended.put(name, handler));
		this.handlers = Map.copyOf(extended);
		return handler;
	}

	public @Nullable DurableHandler find(String nameOrAlias) {
		return this.handlers.get(nameOrAlias);
	}

	Map<String, DurableHandler> all() {
		return this.handlers;
	}

	public Set<String> names() {
		return this.handlers.keySet();
	}

	/** The name of the handler, or the name itself without a handler. */
	public String canonicalName(String nameOrAlias) {
		DurableHandler handler = find(nameOrAlias);
		return (handler != null) ? handler.name() : nameOrAlias;
	}

	/** The current name, then the aliases; the name alone without a handler. */
	public List<String> allNames(String nameOrAlias) {
		DurableHandler handler = find(nameOrAlias);
		return (handler != null) ? handler.names() : List.of(nameOrAlias);
	}

	/** Reads a page of the tasks under all names of a method. */
	public Page list(DelayedTaskStore store, ListQuery query) {
		int limit = Math.min(query.limit(), MAX_LIMIT);
		List<Page> pages = allNames(query.name()).stream()
			.map((name) -> store.list(new ListQuery(name, query.order(), query.after(), limit)))
			.toList();
		if (pages.size() == 1) {
			return pages.get(0);
		}
		List<StoredTask> tasks = pages.stream()
			.flatMap((page) -> page.tasks().stream())
			.sorted((query.order() == Order.PENDING) ? BY_TIME : BY_TIME.reversed())
			.toList();
		return new Page(tasks.subList(0, Math.min(limit, tasks.size())),
				tasks.size() > limit || pages.stream().anyMatch(Page::more));
	}

}
