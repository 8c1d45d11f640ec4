package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Gives the body of a delayed task access to the properties of its task. Thread-safe.
 *
 * @since 0.1
 */
public interface DelayedTaskContext {

	/** The task that the current thread is running; empty outside of a body. */
	static Optional<DelayedTaskContext> current() {
		return Optional.ofNullable(Holder.get());
	}

	/** The task's name, {@code unnamed} if none was given. */
	String name();

	/**
	 * The id of this scheduling, the same as {@link DelayedTask#id()}. All attempts have
	 * the same id, and so have the runs of a schedule. A schedule may get another id when
	 * it is stored again.
	 */
	String id();

	/**
	 * The name and key under which the task was pending; {@code null} for a task without
	 * a key.
	 */
	@Nullable TaskId taskId();

	/**
	 * When the task was due, by the wall clock. For a durable task with a schedule this
	 * is the time by the schedule, which all attempts at a run have in common. Together
	 * with the name and the key it identifies the run. Each attempt at an additional run,
	 * which was moved to an earlier time, has a time of its own, and so has each later
	 * attempt at a run during which the schedule changed, or which was overdue when it
	 * changed.
	 */
	Instant dueAt();

	/** How late the body was started, by the wheel's clock. Zero or more. */
	Duration lateness();

	/**
	 * Which attempt this is, 1 at first. A task that failed is tried again, as often as
	 * its policy or the settings of the store say, with the same {@link #id() id} and
	 * arguments. Only failures count. A run that a shutdown or the end of its node has
	 * cut off does not count.
	 */
	default int attempt() {
		return 1;
	}

	/**
	 * How often the body has been started, this time included. In memory this is the same
	 * as {@link #attempt()}. A durable task runs at least once. If this is above 1, some
	 * or all of its side effects may have happened before, even while {@link #attempt()}
	 * is 1. To make an effect happen only once, store the {@link #id() id} in the same
	 * transaction as the effect, or send the id as an idempotency key. All runs of a
	 * schedule have the same id, so there use the name, the key and {@link #dueAt() due
	 * time} together.
	 */
	default int deliveries() {
		return attempt();
	}

	/**
	 * Keeps the context of the current thread. Applications read it by
	 * {@link DelayedTaskContext#current()}.
	 */
	final class Holder {

		private static final ThreadLocal<@Nullable DelayedTaskContext> CONTEXT = new ThreadLocal<>();

		private Holder() {
		}

		/** The context of the current thread, {@code null} outside of a body. */
		public static @Nullable DelayedTaskContext get() {
			return CONTEXT.get();
		}

		/** Sets the context of the current thread, {@code null} for none. */
		public static void set(@Nullable DelayedTaskContext context) {
			if (context != null) {
				CONTEXT.set(context);
			}
			else {
				CONTEXT.remove();
			}
		}

	}

}
