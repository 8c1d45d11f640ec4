package io.timingwheel.spring.durable.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import io.timingwheel.spring.task.Schedule;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The schedules that methods declare. Each is stored once, after the start of the node,
 * and never changed again: a newer node may have changed it. Those that the store loses
 * are stored again. Thread-safe.
 */
final class DeclaredSchedules {

	private static final Log logger = LogFactory.getLog(DeclaredSchedules.class);

	private final List<Declared> declared = new ArrayList<>();

	private final Set<Declared> stored = new HashSet<>();

	private final Schedules schedules;

	private boolean warned;

	private boolean started;

	DeclaredSchedules(Schedules schedules) {
		this.schedules = schedules;
	}

	/** Stores the schedule at once if the node has started. */
	synchronized void add(Supplier<Submission> call, Schedule schedule, @Nullable Duration initialDelay) {
		Declared one = new Declared(call, schedule, initialDelay);
		this.declared.add(one);
		if (this.started) {
			store(one);
		}
	}

	/** Stores all schedules, also those that are stored already. */
	synchronized void store() {
		this.declared.forEach(this::store);
	}

	private void store(Declared one) {
		this.schedules.store(one.call.get(), one.schedule, one.initialDelay);
		this.stored.add(one);
	}

	/**
	 * Stores the schedules that are not stored yet, and those that the store has lost. If
	 * one fails, the others go on; but not the first time, since the start of the
	 * application waits.
	 * @return {@code false} if some schedules are not stored yet
	 */
	synchronized boolean lookAfter() {
		this.started = true;
		List<String> lost = new ArrayList<>();
		for (Declared one : this.declared) {
			try {
				if (!this.stored.contains(one)) {
					store(one);
				}
				else if (this.schedules.restore(one.call.get(), one.schedule, one.initialDelay)) {
					lost.add(one.call.get().content().name());
				}
			}
			catch (RuntimeException ex) {
				if (!this.warned && !this.stored.contains(one)) {
					this.warned = true;
					logger.warn("The schedules of the recurring tasks could not be stored; trying again until they are",
							ex);
					return false;
				}
				logger.debug("The schedule of a recurring task could not be stored or found; trying again later", ex);
			}
		}
		if (!lost.isEmpty()) {
			logger.warn("The store had lost the schedules of " + lost + ", and they are stored again. It may have"
					+ " lost other tasks too");
		}
		return this.stored.size() == this.declared.size();
	}

	private record Declared(Supplier<Submission> call, Schedule schedule, @Nullable Duration initialDelay) {

	}

}
