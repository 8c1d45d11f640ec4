package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.timingwheel.spring.task.Schedule;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The schedules of the methods of this node. Stores each of them once, when the node
 * starts. If the store, or a part of it, does not answer then, tries again until it does.
 * A schedule that is stored is not changed again: a newer node may have changed it since.
 * But if the store loses schedules while the node runs, stores them again. With virtual
 * time, looks for lost schedules each time when a test moves the time. Thread-safe.
 */
final class DeclaredSchedules {

	private static final Log logger = LogFactory.getLog(DeclaredSchedules.class);

	private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

	/** The time between two looks for lost schedules. */
	private static final long CHECK_NANOS = Duration.ofSeconds(30).toNanos();

	private final List<Declared> schedules = new CopyOnWriteArrayList<>();

	/** The schedules to be stored; once the loop has started, only the loop uses them. */
	private final Queue<Declared> missing = new ArrayDeque<>();

	private final ScheduleEditor editor;

	private final StoreLoop loop;

	private boolean started;

	DeclaredSchedules(NodeTurns turns, ScheduleEditor editor) {
		this.editor = editor;
		this.loop = turns.loop("timing-wheel-schedules", this::look);
	}

	/**
	 * Declares a schedule. Stores it at once if the others are stored already.
	 * @param call gives what to run
	 */
	synchronized void add(Supplier<DurableSubmission> call, Schedule schedule, @Nullable Duration initialDelay) {
		Declared one = new Declared(call, schedule, initialDelay);
		this.schedules.add(one);
		if (this.started) {
			store(one);
		}
	}

	/**
	 * Stores the schedules once. A second call does nothing. After the first failure
	 * leaves the rest to the loop, so that the start of the application waits for one
	 * failing request at most.
	 */
	synchronized void start() {
		if (this.started) {
			return;
		}
		this.started = true;
		this.missing.addAll(this.schedules);
		try {
			while (!this.missing.isEmpty()) {
				store(this.missing.element());
				this.missing.remove();
			}
		}
		catch (RuntimeException ex) {
			logger.warn("The schedules of the recurring tasks could not be stored; trying again until they are", ex);
		}
		if (!this.schedules.isEmpty()) {
			this.loop.start();
		}
	}

	void stop() {
		this.loop.stop();
	}

	/**
	 * Stores all schedules, also those that are stored already.
	 */
	void store() {
		this.schedules.forEach(this::store);
	}

	private void store(Declared one) {
		this.editor.store(one.call().get(), one.schedule(), one.initialDelay());
	}

	private void look() {
		this.missing.removeIf(this::isStoredNow);
		if (!this.missing.isEmpty()) {
			this.loop.sleep(RETRY_NANOS);
			return;
		}
		List<String> lost = restoreLost();
		if (lost.isEmpty()) {
			this.loop.sleep(CHECK_NANOS);
		}
		else {
			logger.warn("The store had lost the schedules of " + lost + ", and they are stored again. It may have"
					+ " lost other tasks too");
		}
	}

	private List<String> restoreLost() {
		List<String> lost = new ArrayList<>();
		for (Declared one : this.schedules) {
			try {
				if (!this.loop.isStopped() && this.editor.restore(one.call(), one.schedule(), one.initialDelay())) {
					lost.add(one.call().get().name());
				}
			}
			catch (RuntimeException ex) {
				logger.debug("A look for a lost schedule failed; the next one follows", ex);
			}
		}
		return lost;
	}

	/**
	 * Stores a schedule, unless that fails. A part of the store may answer while another
	 * does not, so the other schedules are tried in any case.
	 */
	private boolean isStoredNow(Declared one) {
		if (this.loop.isStopped()) {
			return false;
		}
		try {
			store(one);
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("The schedule of a recurring task could not be stored", ex);
			return false;
		}
	}

	private record Declared(Supplier<DurableSubmission> call, Schedule schedule, @Nullable Duration initialDelay) {

	}

}
