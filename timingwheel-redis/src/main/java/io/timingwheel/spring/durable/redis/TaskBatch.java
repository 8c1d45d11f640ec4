package io.timingwheel.spring.durable.redis;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.redis.PartitionedCalls.Answer;

/**
 * A question about many tasks. Not thread-safe.
 */
final class TaskBatch {

	private final Partitions partitions;

	private final PartitionedCalls calls;

	TaskBatch(Partitions partitions, Script script, Object... head) {
		this.partitions = partitions;
		this.calls = new PartitionedCalls(partitions.count(), script, head);
	}

	/**
	 * Adds a task and what the script wants to know of it.
	 */
	void add(TaskRef task, Object... values) {
		Partitions.StoredId id = this.partitions.locate(task.id());
		if (id == null) {
			this.calls.skip();
			return;
		}
		Object[] arguments = new Object[2 + values.length];
		arguments[0] = id.id();
		arguments[1] = task.fence();
		System.arraycopy(values, 0, arguments, 2, values.length);
		this.calls.add(id.partition(), arguments);
	}

	/**
	 * Asks.
	 * @return the replies; {@link Reply#BUSY} where a server was not to be had
	 * @throws RuntimeException if no server was to be had, and as far as is known no
	 * other is
	 */
	List<Reply> run(PartitionOutages scripts) {
		Reply[] replies = new Reply[this.calls.size()];
		Arrays.fill(replies, Reply.REFUSED);
		RuntimeException failure = null;
		List<Answer> answers = this.calls.run(scripts::run);
		boolean reached = answers.isEmpty();
		for (Answer one : answers) {
			List<Integer> positions = one.part().positions();
			ScriptReply answer = one.reply();
			if (answer.failure() != null) {
				failure = answer.failure();
				positions.forEach((position) -> replies[position] = Reply.BUSY);
				continue;
			}
			reached = true;
			for (int j = 0; j < positions.size(); j++) {
				replies[positions.get(j)] = reply(answer.fields().integer(j));
			}
		}
		if (failure != null && !reached && scripts.partial() == null) {
			throw failure;
		}
		return Collections.unmodifiableList(Arrays.asList(replies));
	}

	private static Reply reply(int code) {
		return switch (code) {
			case 0 -> Reply.DONE;
			case 1 -> Reply.SUPERSEDED;
			default -> Reply.REFUSED;
		};
	}

}
