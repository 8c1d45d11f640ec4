package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.timingwheel.spring.durable.redis.Script.Call;

/**
 * Calls of one script about some tasks: one call for each partition that has some of
 * them. Not thread-safe.
 */
final class TaskBatch {

	/** A script with more tasks would block Redis for milliseconds. */
	static final int MAX_TASKS = 500;

	private final Script script;

	private final Object[] head;

	private final Map<Integer, Part> parts = new LinkedHashMap<>();

	/**
	 * Creates an empty batch.
	 * @param script the script
	 * @param head the arguments of each call before the arguments of the tasks
	 */
	TaskBatch(Script script, Object... head) {
		this.script = script;
		this.head = head;
	}

	/**
	 * Cuts a list into lists that fit a batch.
	 */
	static <T> List<List<T>> cut(List<T> tasks) {
		List<List<T>> cut = new ArrayList<>();
		for (int from = 0; from < tasks.size(); from += MAX_TASKS) {
			cut.add(tasks.subList(from, Math.min(from + MAX_TASKS, tasks.size())));
		}
		return cut;
	}

	/**
	 * Adds a task.
	 * @param position what {@link Answer#positions()} tells of this task
	 * @return the call with the task, to which the caller adds the arguments of the task
	 */
	Call add(int partition, int position) {
		Part part = this.parts.computeIfAbsent(partition,
				(number) -> new Part(this.script.on(number, this.head), new ArrayList<>()));
		part.positions.add(position);
		return part.call;
	}

	/**
	 * Runs the calls.
	 * @param scripts runs calls at once and gives their replies in the same order
	 */
	List<Answer> run(Function<List<Call>, List<ScriptReply>> scripts) {
		List<Part> all = List.copyOf(this.parts.values());
		List<ScriptReply> replies = scripts.apply(all.stream().map(Part::call).toList());
		List<Answer> answers = new ArrayList<>();
		for (int i = 0; i < all.size(); i++) {
			answers.add(new Answer(all.get(i).positions, replies.get(i)));
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
