package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Merges the pages of all partitions into one page. Each partition gives about its share
 * of twice the limit. A partition with a full page may have more tasks after the last
 * task of its page. The merged page therefore ends with the first of these last tasks by
 * the order. Not thread-safe.
 */
final class PartitionPages<T> {

	/** A script that reads more tasks would hold up Redis. */
	private static final int MAX_LIMIT = 5000;

	private final int share;

	private final Comparator<T> order;

	private final List<T> tasks = new ArrayList<>();

	/** Of the last tasks of full pages, the first one by the order. */
	private @Nullable T last;

	PartitionPages(int share, Comparator<T> order) {
		this.share = share;
		this.order = order;
	}

	/**
	 * How many tasks each partition is asked for.
	 */
	static int share(int limit, Partitions partitions) {
		return 2 * Math.min(limit, MAX_LIMIT) / partitions.count() + 8;
	}

	/**
	 * Adds the page of a partition.
	 */
	void add(ScriptReply page, Function<ScriptReply, T> read) {
		for (int i = 0; i < page.size(); i++) {
			this.tasks.add(read.apply(page.list(i)));
		}
		if (page.size() == this.share) {
			T end = this.tasks.get(this.tasks.size() - 1);
			T last = this.last;
			this.last = (last == null || this.order.compare(end, last) < 0) ? end : last;
		}
	}

	/**
	 * The first tasks of all partitions, fewer than the limit even if there are more.
	 */
	List<T> first(int limit) {
		this.tasks.sort(this.order);
		T last = this.last;
		int certain = (last != null) ? Collections.binarySearch(this.tasks, last, this.order) + 1 : this.tasks.size();
		return List.copyOf(this.tasks.subList(0, Math.min(certain, limit)));
	}

	/**
	 * Whether there may be tasks after a page.
	 */
	boolean hasMoreThan(List<T> page) {
		return page.size() < this.tasks.size() || this.last != null;
	}

}
