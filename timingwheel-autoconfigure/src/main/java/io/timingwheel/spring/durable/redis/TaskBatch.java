package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * A question about many tasks: one call for each partition that has some of them, or
 * several if these are many. Not thread-safe.
 */
final class TaskBatch {

	/** More would keep Redis from others for milliseconds. */
	private static final int LIMIT = 500;

	private final Partitions partitions;

	private final Script script;

	private final Object[] head;

	private final @Nullable Part[] open;

	private final List<Part> parts = new ArrayList<>();

	private int size;

	TaskBatch(Partitions partitions, Script script, Object... head) {
		this.partitions = partitions;
		this.script = script;
		this.head = head;
		this.open = new Part[partitions.count()];
	}

	/**
	 * Adds a task and what the script wants to know of it.
	 */
	void add(TaskRef task, Object... values) {
		int position = this.size++;
		Partitions.StoredId id = this.partitions.locate(task.id());
		if (id == null) {
			return;
		}
		Part part = this.open[id.partition()];
		if (part == null || part.positions.size() == LIMIT) {
			part = new Part(ScriptCall.of(this.script, id.partition(), this.head), new ArrayList<>());
			this.open[id.partition()] = part;
			this.parts.add(part);
		}
		part.call.with(id.id(), task.fence()).with(values);
		part.positions.add(position);
	}

	/**
	 * Asks.
	 * @return the replies; {@link Reply#BUSY} where a server was not to be had
	 * @throws RuntimeException if no server was to be had, and as far as is known no
	 * other is
	 */
	List<Reply> run(PartitionOutages scripts) {
		Reply[] replies = new Reply[this.size];
		Arrays.fill(replies, Reply.REFUSED);
		RuntimeException failure = null;
		boolean reached = this.parts.isEmpty();
		List<ScriptReply> answers = scripts.run(this.parts.stream().map(Part::call).toList());
		for (int i = 0; i < this.parts.size(); i++) {
			List<Integer> positions = this.parts.get(i).positions;
			ScriptReply answer = answers.get(i);
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

	private record Part(ScriptCall call, List<Integer> positions) {

	}

}
