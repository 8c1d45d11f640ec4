package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.timingwheel.spring.task.Schedule;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The schedules of the methods of this node. Stores them when the node starts. If the
 * store does not answer then, tries again until it does. Thread-safe.
 */
final class DeclaredSchedules {

	private static final Log logger = LogFactory.getLog(DeclaredSchedules.class);

	private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

	private final List<Declared> schedules = new CopyOnWriteArrayList<>();

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
	 * Stores the schedules once. A second call does nothing.
	 */
	synchronized void start() {
		if (this.started) {
			return;
		}
		this.started = true;
		try {
			store();
		}
		catch (RuntimeException ex) {
			logger.warn("The schedules of the recurring tasks could not be stored; trying again until they are", ex);
			this.loop.start();
		}
	}

	void stop() {
		this.loop.stop();
	}

	void store() {
		this.schedules.forEach((one) -> this.editor.store(one.call().get(), one.schedule(), one.initialDelay()));
	}

	private void tryAgain() {
		try {
			store();
			this.loop.stop();
		}
		catch (RuntimeException ex) {
			logger.debug("The schedules of the recurring tasks could not be stored", ex);
			this.loop.sleep(RETRY_NANOS);
		}
	}

	private record Declared(Supplier<DurableSubmission> call, Schedule schedule, @Nullable Duration initialDelay) {

	}

}
