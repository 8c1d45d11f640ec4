package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StoredTask.State;
import io.timingwheel.spring.durable.StoredTask;

/**
 * Reads the tasks that scripts return.
 */
final class TaskFields {

	private TaskFields() {
	}

	/**
	 * A task as its runner sees it, from {@code run_reply}.
	 */
	static LeasedTask leased(int partition, Fields fields) {
		return new LeasedTask(Partitions.publicId(partition, fields.text(0)), fields.number(1), fields.text(2),
				fields.textOrNull(3), fields.textOrNull(4), fields.number(5), fields.flag(6), fields.integer(7),
				fields.integer(8), fields.integer(9));
	}

	/**
	 * The time by which such a task was found.
	 */
	static long foundAt(Fields fields) {
		return fields.number(10);
	}

	/**
	 * A task as it is shown, from {@code shown}.
	 */
	static StoredTask stored(int partition, Fields fields) {
		State state = switch (fields.text(4)) {
			case "r" -> State.RUNNING;
			case "d" -> State.DEAD;
			default -> State.PENDING;
		};
		return new StoredTask(Partitions.publicId(partition, fields.text(0)), fields.text(1), fields.textOrNull(2),
				fields.number(3), state, fields.integer(5), fields.integer(6), fields.textOrNull(7));
	}

	/**
	 * Tasks as they are shown, each with the time by which it stands in the index.
	 */
	static List<Timed<StoredTask>> storedByTime(int partition, Fields tasks) {
		List<Timed<StoredTask>> stored = new ArrayList<>(tasks.size());
		for (int i = 0; i < tasks.size(); i++) {
			Fields fields = tasks.fields(i);
			stored.add(new Timed<>(fields.number(8), stored(partition, fields)));
		}
		return stored;
	}

	record Timed<T>(long time, T value) {

	}

}
