package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.redis.Partitions.StoredId;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one script about many tasks. Each partition that has some of the tasks gets
 * one call, or several calls one after another if it has many. Not thread-safe.
 */
final class TaskBatch {

	/** A script with more tasks would block Redis for milliseconds. */
	private static final int MAX_TASKS_PER_CALL = 500;

	private final Partitions partitions;

	private final Script script;

	private final Object[] head;

	/** The last part of each partition. */
	private final @Nullable Part[] last;

	/** The calls of a wave run at once. A wave has at most one call for a partition. */
	private final List<List<Part>> waves = new ArrayList<>();

	private int size;

	/**
	 * Creates an empty batch.
	 * @param partitions the partitions
	 * @param script the script
	 * @param head the arguments of each call before the arguments of the tasks
	 */
	TaskBatch(Partitions partitions, Script script, Object... head) {
		this.partitions = partitions;
		this.script = script;
		this.head = head;
		this.last = new Part[partitions.count()];
	}

	/**
	 * Adds a task with its arguments.
	 * @return the call with the task; the caller may add more arguments
	 */
	Call add(int partition, @Nullable Object... arguments) {
		Part part = this.last[partition];
		if (part == null || part.positions.size() == MAX_TASKS_PER_CALL) {
			part = append(partition, (part != null) ? part.wave + 1 : 0);
		}
		part.positions.add(this.size++);
		return part.call.with(arguments);
	}

	private Part append(int partition, int wave) {
		Part part = new Part(this.script.on(partition, this.head), new ArrayList<>(), wave);
		this.last[partition] = part;
		if (wave == this.waves.size()) {
			this.waves.add(new ArrayList<>());
		}
		this.waves.get(wave).add(part);
		return part;
	}

	/**
	 * Adds a task by its id and fence. A task that cannot be in this store takes a
	 * position, but is in no call.
	 */
	void add(TaskRef task, Object... arguments) {
		StoredId id = this.partitions.locate(task.id());
		if (id != null) {
			add(id.partition(), id.id(), task.fence()).with(arguments);
		}
		else {
			this.size++;
		}
	}

	int size() {
		return this.size;
	}

	/**
	 * Runs the calls. The calls of a partition run in their order. After a call has
	 * failed, the later calls of its partition are not sent and have the same failure.
	 * @param scripts runs calls at once and gives their replies in the same order
	 */
	List<Answer> run(Function<List<Call>, List<ScriptReply>> scripts) {
		List<Answer> answers = new ArrayList<>();
		@Nullable ScriptReply[] failed = new ScriptReply[this.last.length];
		for (List<Part> wave : this.waves) {
			List<Part> sent = new ArrayList<>();
			for (Part part : wave) {
				ScriptReply failure = failed[part.call.partition()];
				if (failure == null) {
					sent.add(part);
				}
				else {
					answers.add(new Answer(part.positions, failure));
				}
			}
			List<ScriptReply> replies = send(scripts, sent);
			for (int i = 0; i < sent.size(); i++) {
				ScriptReply reply = replies.get(i);
				if (reply.failure() != null) {
					failed[reply.partition()] = reply;
				}
				answers.add(new Answer(sent.get(i).positions, reply));
			}
		}
		return answers;
	}

	/**
	 * Runs the calls of a script that replies one code for each task.
	 * @return a reply for each task, in the order in which they were added; the reply is
	 * {@link Reply#BUSY} if the partition of the task has failed
	 * @throws RuntimeException if all partitions of these tasks have failed and no other
	 * partition is known to answer
	 */
	List<Reply> settle(PartitionOutages scripts) {
		return settle(scripts::run, scripts);
	}

	/**
	 * Runs the calls as {@link #settle(PartitionOutages)} does.
	 * @param scripts runs calls at once and gives their replies in the same order
	 * @param outages knows the partitions that do not answer
	 */
	List<Reply> settle(Function<List<Call>, List<ScriptReply>> scripts, PartitionOutages outages) {
		Reply[] replies = new Reply[this.size];
		Arrays.fill(replies, Reply.REFUSED);
		boolean reached = false;
		RuntimeException failure = null;
		for (Answer answer : run(scripts)) {
			RuntimeException failed = answer.reply.failure();
			reached |= failed == null;
			failure = (failed != null) ? failed : failure;
			for (int i = 0; i < answer.positions.size(); i++) {
				replies[answer.positions.get(i)] = (failed != null) ? Reply.BUSY : reply(answer.reply.integer(i));
			}
		}
		if (failure != null && !reached && outages.partial() == null) {
			throw failure;
		}
		return List.of(replies);
	}

	private static Reply reply(int code) {
		return switch (code) {
			case 0 -> Reply.DONE;
			case 1 -> Reply.SUPERSEDED;
			default -> Reply.REFUSED;
		};
	}

	/**
	 * Turns an exception into failed replies, so that the answers of earlier waves are
	 * not lost.
	 */
	private static List<ScriptReply> send(Function<List<Call>, List<ScriptReply>> scripts, List<Part> parts) {
		if (parts.isEmpty()) {
			return List.of();
		}
		try {
			return scripts.apply(parts.stream().map(Part::call).toList());
		}
		catch (RuntimeException ex) {
			return parts.stream().map((part) -> ScriptReply.failed(part.call.partition(), ex)).toList();
		}
	}

	private record Part(Call call, List<Integer> positions, int wave) {

	}

	/**
	 * The reply of a call.
	 *
	 * @param positions the positions in the batch of the tasks in the call
	 * @param reply the reply, or its failure
	 */
	record Answer(List<Integer> positions, ScriptReply reply) {

	}

}
