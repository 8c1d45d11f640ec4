package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import org.jspecify.annotations.Nullable;

/**
 * The reply of a script: a list of values, or a failure, which each method throws that
 * reads a value. A script with a failure may have run.
 */
record ScriptReply(int partition, List<?> content, @Nullable RuntimeException failure) {

	static ScriptReply failed(int partition, RuntimeException failure) {
		return new ScriptReply(partition, List.of(), failure);
	}

	private List<?> values() {
		if (this.failure != null) {
			throw this.failure;
		}
		return this.content;
	}

	int size() {
		return values().size();
	}

	/** Whether the script has replied nothing ({@code false} in Lua). */
	boolean isAbsent() {
		return size() == 0 || (size() == 1 && values().get(0) == null);
	}

	long number(int index) {
		return (Long) values().get(index);
	}

	int integer(int index) {
		return Math.toIntExact(number(index));
	}

	boolean flag(int index) {
		return number(index) == 1;
	}

	String text(int index) {
		return Objects.requireNonNull(textOrNull(index));
	}

	@Nullable String textOrNull(int index) {
		return (values().get(index) instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : null;
	}

	List<String> texts() {
		return IntStream.range(0, size()).mapToObj(this::text).toList();
	}

	List<Long> numbers() {
		return IntStream.range(0, size()).mapToObj(this::number).toList();
	}

	ScriptReply list(int index) {
		return new ScriptReply(this.partition, (List<?>) values().get(index), null);
	}

	List<ScriptReply> lists(int from) {
		return IntStream.range(from, size()).mapToObj(this::list).toList();
	}

	String publicId(int index) {
		return Partitions.publicId(this.partition, text(index));
	}

	LeasedTask leasedTask() {
		return new LeasedTask(publicId(0), number(1), text(2), textOrNull(3), textOrNull(4), textOrNull(5), number(6),
				flag(7), integer(8), integer(9), integer(10), schedule(11));
	}

	StoredTask storedTask() {
		State state = switch (text(4)) {
			case "s" -> State.SCHEDULED;
			case "l" -> State.LEASED;
			case "r" -> State.RUNNING;
			default -> State.DEAD;
		};
		return new StoredTask(publicId(0), text(1), textOrNull(2), number(3), state, integer(5), integer(6),
				textOrNull(7), schedule(9), (state == State.DEAD) ? number(8) : null);
	}

	private @Nullable StoredSchedule schedule(int index) {
		String text = textOrNull(index);
		return (text != null) ? new StoredSchedule(text, number(index + 1)) : null;
	}

}
