package io.timingwheel.spring.durable.node;

import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.store.LeasedTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Accepts the tasks that the poller has claimed: runs those that have begun, lets the
 * others wait until they are due, and gives back those that this node must not start.
 */
final class Intake {

	private static final Log logger = LogFactory.getLog(Intake.class);

	private final int maxLost;

	private final Names names;

	private final Held held;

	private final Beginner beginner;

	private final Runner runner;

	private final Settler settler;

	Intake(int maxLost, Names names, Held held, Beginner beginner, Runner runner, Settler settler) {
		this.maxLost = maxLost;
		this.names = names;
		this.held = held;
		this.beginner = beginner;
		this.runner = runner;
		this.settler = settler;
	}

	/**
	 * Accepts a claimed task.
	 * @param ahead by how many nanoseconds the node's clock is ahead of the store's
	 */
	void accept(LeasedTask task, LeaseKeeper.Term term, long ahead) {
		DurableHandler handler = this.names.policies().handlers().find(task.name());
		if (handler == null) {
			// The application has removed the handler. The lease brings the task back.
			return;
		}
		// A task of a limited name is leased before it begins only if it has expired.
		boolean expired = !task.begun() && !task.suspect() && handler.expireAfter() != null
				&& this.names.policies().limits(handler) != null;
		Run run = new Run(task, handler, this.names.window(handler), this.runner,
				ahead + TimeUnit.MILLISECONDS.toNanos(task.dueAt()), expired);
		this.held.add(run);
		try {
			accept(run, term);
		}
		catch (Throwable ex) {
			logger.error("The durable task %s could not be accepted, and is given back".formatted(run), ex);
			this.settler.giveBack(run);
		}
	}

	private void accept(Run run, LeaseKeeper.Term term) {
		LeasedTask task = run.task;
		if (!this.held.isOpen() || this.names.policies().isPaused(task.name())) {
			// The node or the name was paused during the claim.
			this.settler.giveBack(run);
		}
		else if (task.lost() > this.maxLost && run.unknownSchedule == null) {
			// The first loss does not count: others may have ended the node.
			run.withdraw();
			this.settler.giveUp(run,
					"Nodes ended %d times while they were running the task (timingwheel.store.max-lost-deliveries)"
						.formatted(task.lost()));
		}
		else if (task.begun()) {
			this.runner.submit(run, term);
		}
		else {
			this.beginner.beginWhenDue(run);
		}
	}

	/**
	 * Gives back the tasks of some names whose bodies have not started.
	 */
	void giveBack(Predicate<String> names) {
		for (Run run : this.held.runs()) {
			if (names.test(run.task.name())) {
				this.settler.giveBack(run);
			}
		}
	}

}
