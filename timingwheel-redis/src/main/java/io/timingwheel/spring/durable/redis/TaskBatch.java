package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one script about some tasks: one call for each partition that has some of
 * them, and for each {@link #MAX_TASKS}. Not thread-safe.
 */
final class TaskBatch {

	/** A script with more tasks would block Redis for milliseconds. */
	static final int MAX_TASKS = 500;

	private final Script script;

	private final @Nullable Object[] head;

	private final List<Map<Integer, Part>> steps = new ArrayList<>();

	private int size;

	/**
	 * Creates an empty batch.
	 * @param head the arguments of each call before the arguments of the tasks
	 */
	TaskBatch(Script script, @Nullable Object... head) {
		this.script = script;
		this.head = head;
	}

	/**
	 * Adds a task.
	 * @param position what {@link Answer#positions()} tells of this task
	 * @return the call with the task
	 */
	Call add(int partition, int position, @Nullable Object... arguments) {
		if (this.size++ % MAX_TASKS == 0) {
			this.steps.add(new LinkedHashMap<>());
		}
		Part part = this.steps.get(this.steps.size() - 1)
			.computeIfAbsent(partition, (number) -> new Part(this.script.on(number, this.head), new ArrayList<>()));
		part.positions.add(position);
		return part.call.with(arguments);
	}

	/**
	 * Adds a task by the id that callers see. Without effect if this store never gave the
	 * id.
	 */
	void add(Partitions partitions, String id, int position, @Nullable Object... arguments) {
		StoredId stored = partitions.locate(id);
		if (stored != null) {
			add(stored.partition(), position, stored.id()).with(arguments);
		}
	}

	/**
	 * Runs the calls, at most {@link #MAX_TASKS} tasks at once. A partition that has
	 * failed gets no further call.
	 * @param scripts runs calls at once and gives their replies in the same order
	 */
	List<Answer> run(Function<List<Call>, List<ScriptReply>> scripts) {
		Map<Integer, ScriptReply> failed = new HashMap<>();
		List<Answer> answers = new ArrayList<>();
		for (Map<Integer, Part> step : this.steps) {
			Iterator<ScriptReply> replies = scripts
				.apply(step.values()
					.stream()
					.map(Part::call)
					.filter((one) -> !failed.containsKey(one.partition()))
					.toList())
				.iterator();
			step.forEach((partition, part) -> {
				ScriptReply earlier = failed.get(partition);
				ScriptReply reply = (earlier != null) ? earlier : replies.next();
				answers.add(new Answer(part.positions, reply));
				if (reply.failure() != null) {
					failed.put(partition, reply);
				}
			});
		}
		return answers;
	}

	private record Part(Call call, List<Integer> positions) {

	}

	/**
	 * The reply of a call.
	 *
	 * @param positions the positions of the tasks in the call
	 * @param reply the reply, or its failure
	 */
	record Answer(List<Integer> positions, ScriptReply reply) {

	}

}
