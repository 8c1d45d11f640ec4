package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayDeque;
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
 * A schedule that is stored is not stored again: a newer node may have changed it since.
 * Thread-safe.
 */
final class DeclaredSchedules {

	private static final Log logger = LogFactory.getLog(DeclaredSchedules.class);

	private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

	private final List<Declared> schedules = new CopyOnWriteArrayList<>();

	/** The schedules to be stored; once the loop has started, only the loop uses them. */
	private final Queue<Declared> missing = new ArrayDeque<>();

	private final ScheduleEditor editor;

	private final StoreLoop loop;

	private boolean started;

	DeclaredSchedules(NodeTurns turns, ScheduleEditor editor) {
		this.editor = editor;
		this.loop = turns.loop("timing-wheel-schedules", this::tryAgain);
	}

	/**
	 * Declares a schedule.
	 * @param call gives what to run
	 */
	void add(Supplier<DurableSubmission> call, Schedule schedule, @Nullable Duration initialDelay) {
		this.schedules.add(new Declared(call, schedule, initialDelay));
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

	private void tryAgain() {
		this.missing.removeIf(this::isStoredNow);
		if (this.missing.isEmpty()) {
			this.loop.stop();
		}
		else {
			this.loop.sleep(RETRY_NANOS);
		}
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
