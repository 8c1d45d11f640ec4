package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Calls of a script that is about many tasks: one for each partition that has some of
 * them, or several if these are many. Not thread-safe.
 */
final class PartitionedCalls {

	/** More would keep Redis from others for milliseconds. */
	private static final int LIMIT = 500;

	private final Script script;

	private final Object[] head;

	private final @Nullable Part[] open;

	private final List<Part> parts = new ArrayList<>();

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
			part = new Part(ScriptCall.of(this.script, partition, this.head), new ArrayList<>());
			this.open[partition] = part;
			this.parts.add(part);
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

	List<Part> parts() {
		return this.parts;
	}

	List<ScriptCall> calls() {
		return this.parts.stream().map(Part::call).toList();
	}

	/**
	 * A call, and which of the tasks it is about.
	 */
	record Part(ScriptCall call, List<Integer> positions) {

	}

}
