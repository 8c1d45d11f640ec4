package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one script about some tasks, each about up to {@link #MAX_TASKS} tasks of one
 * partition. Not thread-safe.
 */
final class TaskBatch {

	/** A script with more tasks would block Redis for milliseconds. */
	static final int MAX_TASKS = 500;

	private final Script script;

	private final @Nullable Object[] head;

	private final List<Part> parts = new ArrayList<>();

	private final Map<Integer, Part> last = new HashMap<>();

	TaskBatch(Script script, @Nullable Object... head) {
		this.script = script;
		this.head = head;
	}

	Call add(int partition, int position, @Nullable Object... arguments) {
		Part part = this.last.get(partition);
		if (part == null || part.positions.size() == MAX_TASKS) {
			part = new Part(this.script.on(partition, this.head), new ArrayList<>());
			this.last.put(partition, part);
			this.parts.add(part);
		}
		part.positions.add(position);
		return part.call.with(arguments);
	}

	/** Adds a task by the id that callers see, unless this store never gave the id. */
	void add(Partitions partitions, String id, int position, @Nullable Object... arguments) {
		StoredId stored = partitions.locate(id);
		if (stored != null) {
			add(stored.partition(), position, stored.id()).with(arguments);
		}
	}

	List<Answer> run(Function<List<Call>, List<ScriptReply>> scripts) {
		Iterator<ScriptReply> replies = scripts.apply(this.parts.stream().map(Part::call).toList()).iterator();
		return this.parts.stream().map((part) -> new Answer(part.positions, replies.next())).toList();
	}

	private record Part(Call call, List<Integer> positions) {

	}

	record Answer(List<Integer> positions, ScriptReply reply) {

	}

}
