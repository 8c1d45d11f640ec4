package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Calls of a script that is about many tasks: one for each partition that has some of
 * them, or several if these are many, one after another. Not thread-safe.
 */
final class PartitionedCalls {

	/** More would keep Redis from others for milliseconds. */
	private static final int LIMIT = 500;

	private final Script script;

	private final Object[] head;

	private final @Nullable Part[] open;

	/** In each at most one call for a partition. */
	private final List<List<Part>> waves = new ArrayList<>();

	private int size;

	/**
	 * Creates a set without calls.
	 * @param partitions how many partitions there are
	 * @param script the script
	 * @param head what it wants to know once
	 */
	PartitionedCalls(int partitions, Script script, Object... head) {
		this.script = script;
		this.head = head;
		this.open = new Part[partitions];
	}

	/**
	 * Adds a task and what the script wants to know of it.
	 */
	void add(int partition, @Nullable Object... values) {
		Part part = this.open[partition];
		if (part == null || part.positions.size() == LIMIT) {
			part = new Part(ScriptCall.of(this.script, partition, this.head), new ArrayList<>(),
					(part != null) ? part.wave + 1 : 0);
			this.open[partition] = part;
			if (part.wave == this.waves.size()) {
				this.waves.add(new ArrayList<>());
			}
			this.waves.get(part.wave).add(part);
		}
		part.call.with(values);
		part.positions.add(this.size++);
	}

	/**
	 * Leaves a position out.
	 */
	void skip() {
		this.size++;
	}

	int size() {
		return this.size;
	}

	/**
	 * Sends the calls, those of a partition in their order: once one has failed, the
	 * others of its partition are not sent, and have failed for the same reason.
	 * @param scripts runs calls at once
	 */
	List<Answer> run(Function<List<ScriptCall>, List<ScriptReply>> scripts) {
		List<Answer> answers = new ArrayList<>();
		@Nullable ScriptReply[] failed = new ScriptReply[this.open.length];
		for (List<Part> wave : this.waves) {
			List<Part> sent = new ArrayList<>();
			for (Part part : wave) {
				ScriptReply failure = failed[part.call.partition()];
				if (failure == null) {
					sent.add(part);
				}
				else {
					answers.add(new Answer(part, failure));
				}
			}
			List<ScriptReply> replies = run(scripts, sent);
			for (int i = 0; i < sent.size(); i++) {
				ScriptReply reply = replies.get(i);
				if (reply.failure() != null) {
					failed[sent.get(i).call.partition()] = reply;
				}
				answers.add(new Answer(sent.get(i), reply));
			}
		}
		return answers;
	}

	/**
	 * What earlier calls have done is known, whatever becomes of these.
	 */
	private static List<ScriptReply> run(Function<List<ScriptCall>, List<ScriptReply>> scripts, List<Part> parts) {
		if (parts.isEmpty()) {
			return List.of();
		}
		try {
			return scripts.apply(parts.stream().map(Part::call).toList());
		}
		catch (RuntimeException ex) {
			return Collections.nCopies(parts.size(), new ScriptReply(null, ex));
		}
	}

	/**
	 * A call, and which of the tasks it is about.
	 */
	record Part(ScriptCall call, List<Integer> positions, int wave) {

	}

	/**
	 * How it went with a call.
	 */
	record Answer(Part part, ScriptReply reply) {

	}

}
