package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.task.TaskId;

/**
 * Cuts the tasks that are to be stored into batches. The second task with a key comes in
 * a later batch, so that no statement changes a row twice. The keyed tasks of a batch are
 * in the order of their keys, so that two transactions with the same keys have no
 * deadlock.
 */
final class EnqueueBatches {

	private static final int MAX_SIZE = 1000;

	private static final Comparator<NewTask> ORDER = Comparator.comparing(NewTask::name)
		.thenComparing(NewTask::key, Comparator.nullsFirst(Comparator.naturalOrder()));

	private EnqueueBatches() {
	}

	static List<List<NewTask>> of(List<NewTask> tasks) {
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

}
