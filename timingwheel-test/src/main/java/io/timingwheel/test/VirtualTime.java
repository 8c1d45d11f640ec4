package io.timingwheel.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.assertj.core.api.AssertProvider;

/**
 * The time of an application under test. It stands still until a test moves it. The
 * thread that moves it runs the bodies that fall due, in the order of their due times,
 * whatever their executors are. Any thread may read the time; one at a time may move it,
 * and no body may.
 *
 * @since 0.1
 * @see AutoConfigureVirtualTime
 */
public interface VirtualTime extends AssertProvider<VirtualTimeAssert> {

	/**
	 * Moves the time from task to task, and runs those that fall due, with those that
	 * bodies schedule on the way. In a body, {@link #now()} is the due time of its task.
	 * When this method returns, all bodies have run, and their futures are complete.
	 *
	 * <p>
	 * If bodies have thrown exceptions, this method throws the first one at its end, with
	 * those of later attempts and other bodies as suppressed exceptions, besides what the
	 * application does with them. A checked exception becomes the cause of an
	 * {@link java.lang.reflect.UndeclaredThrowableException}.
	 * @param by how far; zero runs what is due now
	 * @throws IllegalArgumentException if the duration is negative, or all tests of this
	 * context together would move the time by more than 200 years
	 * @throws IllegalStateException if a body calls this method, another thread moves the
	 * time, or the store of durable tasks did not answer
	 */
	void advance(Duration by);

	/**
	 * Moves the time to a point in time.
	 * @param instant the time, not before {@link #now()}
	 * @see #advance
	 */
	void advanceTo(Instant instant);

	/**
	 * Moves the time until nothing is pending but tasks with several runs, which run when
	 * they are due meanwhile, and what cannot run: tasks of a paused name or node, and
	 * durable tasks without a method here. All that was scheduled with a
	 * {@code TaskScheduler} counts as a task with several runs.
	 * @throws IllegalStateException if this takes more than 20,000 runs
	 * @see #advance
	 */
	void runAll();

	/**
	 * The present time: the real time, in milliseconds, at the start of a test method.
	 */
	Instant now();

	/** A clock in the default time zone that always shows {@link #now()}. */
	Clock clock();

	/** How many tasks of a name are pending, in memory and in the store. */
	long pending(String name);

	/** The pending tasks of a name, the first one due first. */
	List<PendingTask> tasks(String name);

	/** The pending tasks of all names, the first one due first. */
	List<PendingTask> tasks();

	/**
	 * Lets each durable task be delivered twice, at the same time: the end of its first
	 * run gets lost. A {@code transactional} body is rolled back the first time. For a
	 * rate these are two starts.
	 * @param twice whether to do so until the end of the test method
	 * @throws IllegalStateException if the application has no store
	 */
	void deliverTwice(boolean twice);

	/**
	 * Lets the node crash after the next run of a durable task, before it acknowledges
	 * the task, which runs again when its lease has ended. A {@code transactional} body
	 * is rolled back.
	 * @throws IllegalStateException if the application has no store
	 * @throws IllegalArgumentException if no durable method has the name
	 */
	void crashBeforeAcknowledge(String name);

	/**
	 * Lets the next run of a task throw an exception in place of running its body. A
	 * second call adds a second failure.
	 * @param name the name of the task, in memory or durable
	 * @throws IllegalArgumentException if no method has the name, and no task has had it
	 */
	void failNext(String name, Throwable exception);

	/**
	 * Begins anew at the real time: cancels and deletes all pending tasks, schedules and
	 * timers but those that the application has started before the first test method, and
	 * forgets failures, faults, the starts that rates count, and pauses. The test
	 * framework calls this method before and after each test method.
	 * @throws IllegalStateException if a body calls this method, or another thread moves
	 * the time
	 */
	void reset();

}
