package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.StoredTask.State;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The reply of a script: a list of values, or a failure. If there is a failure, each
 * method that reads a value throws the failure.
 */
final class ScriptReply {

	private final int partition;

	private final List<?> values;

	private final @Nullable RuntimeException failure;

	private final boolean sent;

	private ScriptReply(int partition, List<?> values, @Nullable RuntimeException failure, boolean sent) {
		this.partition = partition;
		this.values = values;
		this.failure = failure;
		this.sent = sent;
	}

	static ScriptReply of(int partition, List<?> values) {
		return new ScriptReply(partition, values, null, true);
	}

	/**
	 * The failed reply to a call. The script may have run or not.
	 */
	static ScriptReply failed(int partition, RuntimeException failure) {
		return new ScriptReply(partition, List.of(), failure, true);
	}

	/**
	 * The failed reply to a call that was not sent.
	 */
	static ScriptReply notSent(int partition, RuntimeException failure) {
		return new ScriptReply(partition, List.of(), failure, false);
	}

	/**
	 * The partition that the script was called on.
	 */
	int partition() {
		return this.partition;
	}

	/**
	 * The failure, {@code null} if the script has replied.
	 */
	@Nullable RuntimeException failure() {
		return this.failure;
	}

	/**
	 * Throws the failure, if there is one.
	 */
	void check() {
		values();
	}

	/**
	 * Whether the script may have run although there is a failure.
	 */
	boolean mayHaveRun() {
		return this.sent;
	}

	int size() {
		return values().size();
	}

	/**
	 * Whether the script has replied nothing ({@code false} in Lua).
	 */
	boolean isAbsent() {
		return size() == 0 || (size() == 1 && values().get(0) == null);
	}

	long number(int index) {
		Object value = values().get(index);
		Assert.state(value instanceof Long, "The reply of Redis is not a number");
		return (Long) value;
	}

	int integer(int index) {
		return Math.toIntExact(number(index));
	}

	boolean flag(int index) {
		return number(index) == 1;
	}

	String text(int index) {
		String text = textOrNull(index);
		Assert.state(text != null, "The reply of Redis is not a text");
		return text;
	}

	@Nullable String textOrNull(int index) {
		Object value = values().get(index);
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : null;
	}

	ScriptReply list(int index) {
		Object value = values().get(index);
		Assert.state(value instanceof List, "The reply of Redis is not a list");
		return of(this.partition, (List<?>) value);
	}

	/**
	 * The id of a task as callers of the store see it.
	 */
	String publicId(int index) {
		return Partitions.publicId(this.partition, text(index));
	}

	/**
	 * The task that {@code parts/leased_task.lua} has written.
	 */
	LeasedTask leasedTask() {
		return new LeasedTask(publicId(0), number(1), text(2), textOrNull(3), textOrNull(4), textOrNull(5), number(6),
				flag(7), integer(8), integer(9), integer(10), flag(11), schedule(13));
	}

	/**
	 * The task that {@code parts/stored_task.lua} has written.
	 */
	StoredTask storedTask() {
		State state = switch (text(4)) {
			case "r" -> State.RUNNING;
			case "d" -> State.DEAD;
			default -> State.PENDING;
		};
		return new StoredTask(publicId(0), text(1), textOrNull(2), number(3), state, integer(5), integer(6),
				textOrNull(7), schedule(9), (state == State.DEAD) ? number(8) : null);
	}

	private @Nullable StoredSchedule schedule(int index) {
		String text = textOrNull(index);
		return (text != null) ? new StoredSchedule(text, number(index + 1)) : null;
	}

	private List<?> values() {
		if (this.failure != null) {
			throw this.failure;
		}
		return this.values;
	}

}
