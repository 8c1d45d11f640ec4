package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.timingwheel.spring.durable.PendingQuery;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Reads the pending tasks of a name, of all partitions. Thread-safe.
 */
final class PendingEntries {

	/**
	 * The order of due times in all partitions. A partition has the tasks in this order
	 * too, as it has only the first part of each id.
	 */
	private static final Comparator<StoredTask> BY_DUE = Comparator.comparingLong(StoredTask::dueAt)
		.thenComparing((task) -> Partitions.localId(task.id()));

	private final Partitions partitions;

	private final ScriptRunner scripts;

	PendingEntries(Partitions partitions, ScriptRunner scripts) {
		this.partitions = partitions;
		this.scripts = scripts;
	}

	/**
	 * Reads a page, in several steps if the tasks are not spread evenly.
	 */
	List<StoredTask> read(PendingQuery query) {
		List<StoredTask> tasks = new ArrayList<>();
		StoredTask.Position after = query.after();
		boolean more = true;
		while (more && tasks.size() < query.limit()) {
			int limit = query.limit() - tasks.size();
			PartitionPages<StoredTask> pages = read(query.name(), after, limit);
			List<StoredTask> page = pages.first(limit);
			tasks.addAll(page);
			more = pages.hasMoreThan(page) && !page.isEmpty();
			after = page.isEmpty() ? after : page.get(page.size() - 1).position();
		}
		return tasks;
	}

	private PartitionPages<StoredTask> read(String name, StoredTask.@Nullable Position after, int limit) {
		int share = PartitionPages.share(limit, this.partitions);
		List<Call> calls = new ArrayList<>();
		for (int partition = 0; partition < this.partitions.count(); partition++) {
			Call call = Script.PENDING.on(partition, name, share);
			calls.add((after != null) ? call.with(after.dueAt(), Partitions.localId(after.id())) : call);
		}
		PartitionPages<StoredTask> pages = new PartitionPages<>(share, BY_DUE);
		this.scripts.run(calls).forEach((reply) -> pages.add(reply, ScriptReply::storedTask));
		return pages;
	}

}
