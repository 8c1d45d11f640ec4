package io.timingwheel.spring.durable.jdbc;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.task.TaskId;

import org.springframework.util.Assert;

/**
 * Cuts the tasks that are to be stored into batches. The second task with a key comes in
 * a later batch, so that no statement changes a row twice. The keyed tasks of a batch are
 * in the order of their keys, so that two transactions wait for each other rather than
 * run into a deadlock.
 */
final class EnqueueBatches {

	private static final int MAX_SIZE = 1000;

	private static final Comparator<NewTask> ORDER = Comparator.comparing(NewTask::name)
		.thenComparing(NewTask::key, Comparator.nullsFirst(Comparator.naturalOrder()));

	private EnqueueBatches() {
	}

	/**
	 * Checks the names and keys of tasks, and cuts the tasks into batches.
	 * @throws IllegalArgumentException if a database would change or cut a name or key
	 */
	static List<List<NewTask>> of(List<NewTask> tasks) {
		tasks.forEach(EnqueueBatches::check);
		if (tasks.size() == 1) {
			return List.of(tasks);
		}
		List<List<NewTask>> rounds = new ArrayList<>();
		Map<TaskId, Integer> seen = new HashMap<>();
		for (NewTask task : tasks) {
			int round = (task.key() != null) ? seen.merge(new TaskId(task.name(), task.key()), 1, Integer::sum) - 1 : 0;
			if (round == rounds.size()) {
				rounds.add(new ArrayList<>());
			}
			rounds.get(round).add(task);
		}
		List<List<NewTask>> batches = new ArrayList<>();
		for (List<NewTask> round : rounds) {
			round.sort(ORDER);
			for (int i = 0; i < round.size(); i += MAX_SIZE) {
				batches.add(round.subList(i, Math.min(round.size(), i + MAX_SIZE)));
			}
		}
		return batches;
	}

	private static void check(NewTask task) {
		check("name", task.name(), DelayedTaskStore.MAX_NAME_BYTES);
		if (task.key() != null) {
			check("key", task.key(), DelayedTaskStore.MAX_KEY_BYTES);
		}
	}

	private static void check(String what, String text, int limit) {
		try {
			int bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text)).remaining();
			Assert.isTrue(bytes <= limit, () -> "The %s of a durable task may have %d bytes of UTF-8, not %d: %.40s..."
				.formatted(what, limit, bytes, text));
		}
		catch (CharacterCodingException ex) {
			throw new IllegalArgumentException(
					"The %s of a durable task must be valid Unicode, without half of a surrogate pair".formatted(what),
					ex);
		}
	}

}
