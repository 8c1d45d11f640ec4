package io.timingwheel.spring.durable.store.test;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StoredTask.State;

/** One claim of a node. It first decides which tasks it takes, and then takes them. */
final class InMemoryClaim {

	private final InMemoryTasks tasks;

	private final ClaimRequest request;

	private final long now;

	/** The names that are not paused. */
	private final Map<String, InMemoryName> names = new HashMap<>();

	/** The chosen tasks, and whether each of them begins with the claim. */
	private final Map<InMemoryTask, Boolean> chosen = new LinkedHashMap<>();

	private long startAt = Long.MAX_VALUE;

	private boolean more;

	InMemoryClaim(InMemoryTasks tasks, ClaimRequest request, long now) {
		this.tasks = tasks;
		this.request = request;
		this.now = now;
	}

	Claimed claim() {
		boolean newSuspects = loseDeliveries();
		this.request.names().forEach((name, share) -> {
			if (!isPaused(name)) {
				this.names.put(name, new InMemoryName(this.tasks, name, share, this.now));
			}
		});
		Optional<InMemoryTask> suspect = this.request.suspect() ? findSuspect() : Optional.empty();
		suspect.ifPresentOrElse(this::choose, this::chooseOthers);
		this.chosen.forEach((task, begins) -> {
			this.tasks.lease(task, this.now, this.request.lease());
			if (begins) {
				this.tasks.begin(task);
			}
		});
		List<LeasedTask> tasks = this.chosen.keySet()
			.stream()
			.sorted(Comparator.comparingLong((task) -> task.dueAt))
			.map((task) -> task.leased(this.request.maxPayloadBytes()))
			.toList();
		return new Claimed(tasks, this.now, nextAt(), Math.min(this.startAt, nextStart()), this.more, newSuspects,
				Set.copyOf(this.tasks.paused));
	}

	private boolean isPaused(String name) {
		return this.tasks.paused.contains(name);
	}

	/**
	 * Running, lease over: scheduled, lost + 1; gone if the schedule has ended. Only a
	 * request for a suspect claims these tasks again.
	 * @return whether there were any
	 */
	private boolean loseDeliveries() {
		List<InMemoryTask> lost = this.tasks.running()
			.filter((task) -> task.nextAt <= this.now && this.request.names().containsKey(task.name)
					&& !isPaused(task.name))
			.toList();
		lost.forEach((task) -> this.tasks.lose(task, this.now));
		return !lost.isEmpty();
	}

	/**
	 * Finds the first task that has lost a delivery and may begin. A node has only one
	 * such task, so the claim takes no other task.
	 */
	private Optional<InMemoryTask> findSuspect() {
		return this.tasks.suspects().filter((task) -> {
			InMemoryName name = this.names.get(task.name);
			return name != null && task.isDue(this.now) && task.isFree(this.now) && name.allowsSuspect(task);
		}).findFirst();
	}

	/**
	 * Scheduled, due, lost > 0: leased. The task counts for the limits of its name from
	 * now on.
	 */
	private void choose(InMemoryTask suspect) {
		name(suspect).count(suspect);
		this.chosen.put(suspect, false);
		this.more = true;
	}

	private void chooseOthers() {
		long until = InMemoryTasks.after(this.now, this.request.lookAhead());
		Iterator<InMemoryTask> found = this.tasks.pending().takeWhile((task) -> task.nextAt <= until).iterator();
		while (found.hasNext() && (this.chosen.size() < this.request.limit() || !this.more)) {
			InMemoryTask task = found.next();
			if (this.names.containsKey(task.name) && task.isFree(this.now)) {
				chooseOther(task, name(task));
			}
		}
	}

	/**
	 * Scheduled, lost = 0: running if the task is due and the limits of its name allow
	 * it, or leased if it is due soon.
	 */
	private void chooseOther(InMemoryTask task, InMemoryName name) {
		boolean due = task.isDue(this.now);
		if (!due && name.isLimited()) {
			return;
		}
		if (this.chosen.size() == this.request.limit() || !name.hasRoom(due)) {
			this.more = true;
		}
		else if (!due || name.isExpired(task)) {
			name.give(due);
			this.chosen.put(task, false);
		}
		else if (!name.hasPlace(task)) {
			this.more = true;
		}
		else if (!name.hasStart()) {
			this.startAt = Math.min(this.startAt, name.startsAgainAt());
		}
		else {
			name.give(true);
			name.count(task);
			this.chosen.put(task, true);
		}
	}

	private InMemoryName name(InMemoryTask task) {
		return Objects.requireNonNull(this.names.get(task.name));
	}

	/** The earliest time, later than now, of a task of a name without limits. */
	private long nextAt() {
		return later((task) -> task.state != State.DEAD && !name(task).isLimited() && !this.chosen.containsKey(task));
	}

	/** The earliest time, later than now, at which a task of a limited name is due. */
	private long nextStart() {
		return later((task) -> task.state == State.SCHEDULED && task.lost == 0 && name(task).isLimited());
	}

	private long later(Predicate<InMemoryTask> which) {
		return this.tasks.all()
			.filter((task) -> task.nextAt > this.now && this.names.containsKey(task.name) && which.test(task))
			.mapToLong((task) -> task.nextAt)
			.min()
			.orElse(Long.MAX_VALUE);
	}

}
