package io.timingwheel.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.assertj.core.api.AssertProvider;

/**
 * The time of an application under test. It stands still until the test moves it. The
 * thread that moves it runs the bodies of the tasks that fall due, one after another in
 * the order of their due times, whatever their executors are.
 *
 * <p>
 * Any thread may read the time. Only one thread at a time may move it. The body of a task
 * may not.
 *
 * @since 0.1
 * @see AutoConfigureVirtualTime
 */
public interface VirtualTime extends AssertProvider<VirtualTimeAssert> {

	/**
	 * Moves the time, and runs the tasks that fall due. The time goes from task to task:
	 * in a body, {@link #now()} is the time at which its task is due. What a body
	 * schedules within the span runs too. When this method returns, all bodies have run
	 * and their futures are complete.
	 * @param by how far to move the time; zero runs what is due now
	 * @throws IllegalArgumentException if the duration is negative, if the time would go
	 * beyond the year 2262, or if the tests of this application context together would
	 * move the time by more than 292 years
	 * @throws IllegalStateException if a body calls this method, if another thread moves
	 * the time, or if the store of durable tasks did not answer
	 * @see #onFailure what happens with the exceptions of bodies
	 */
	void advance(Duration by);

	/**
	 * Moves the time to a point in time.
	 * @param instant the time, not before {@link #now()}
	 * @throws IllegalArgumentException if the time is before now
	 * @see #advance
	 */
	void advanceTo(Instant instant);

	/**
	 * Moves the time until nothing is pending any more. Tasks with several runs do not
	 * count, and run when they are due meanwhile: those of the template,
	 * {@code @Recurring} and {@code @Scheduled} methods, and anything else that was
	 * scheduled with a {@code TaskScheduler}. What cannot run does not count either:
	 * tasks of a paused name, durable tasks while the node is paused, and durable tasks
	 * that the application has no method for.
	 * @throws IllegalStateException if the tasks do not come to an end within 20,000 runs
	 * @see #advance
	 */
	void runAll();

	/**
	 * The present time. At the start of each test method this is the real time, in
	 * milliseconds.
	 * @return the time
	 */
	Instant now();

	/**
	 * A clock for the code of the application, in the default time zone.
	 * @return a clock that always shows {@link #now()}
	 */
	Clock clock();

	/**
	 * How many tasks of a name are pending, in memory and in the store.
	 * @param name the name
	 * @return the number
	 */
	long pending(String name);

	/**
	 * The pending tasks of a name, in memory and in the store.
	 * @param name the name
	 * @return the tasks, the first one due first
	 */
	List<PendingTask> tasks(String name);

	/**
	 * The pending tasks of all names.
	 * @return the tasks, the first one due first
	 */
	List<PendingTask> tasks();

	/**
	 * What happens with the exceptions of bodies. By default the method that moved the
	 * time throws the first one when the whole time has passed, with the others as
	 * suppressed exceptions. An exception that is not unchecked becomes the cause of an
	 * {@link java.lang.reflect.UndeclaredThrowableException}. This comes in addition to
	 * what the application does with the exception: futures complete, handlers are told,
	 * and durable tasks are tried again.
	 * @param mode what to do from now on, until the end of the test method
	 */
	void onFailure(OnFailure mode);

	/**
	 * The exceptions of bodies that were not thrown. Each attempt of a task that is tried
	 * again counts.
	 * @return the exceptions since the start of the test method, in their order
	 */
	List<Throwable> failures();

	/**
	 * Lets each durable task be delivered twice, as after a crash of its node: the body
	 * runs, its end gets lost, and the body runs again at the same time. A test thus
	 * shows that its side effects are idempotent. A {@code transactional} body is rolled
	 * back the first time. If the starts of the name have a rate, the second delivery is
	 * a start of its own.
	 * @param twice whether to do so, until the end of the test method
	 * @throws IllegalStateException if the application has no store
	 */
	void deliverTwice(boolean twice);

	/**
	 * Lets the node crash after the next run of a durable task, before it acknowledges
	 * the task. The task runs again when its lease has ended
	 * ({@code timingwheel.store.lease} after its start). A {@code transactional} body is
	 * rolled back.
	 * @param name the name of the task
	 * @throws IllegalStateException if the application has no store
	 * @throws IllegalArgumentException if no durable method has the name
	 */
	void crashBeforeAcknowledge(String name);

	/**
	 * Lets the next run of a task throw an exception in place of running its body. A
	 * second call adds a second failure.
	 * @param name the name of the task, in memory or durable
	 * @param exception the exception
	 * @throws IllegalArgumentException if no method has the name, and no task with the
	 * name is pending
	 */
	void failNext(String name, Throwable exception);

	/**
	 * Begins anew: cancels and deletes all pending tasks, cancels the schedules of the
	 * {@code TaskScheduler} on the wheel and the timers of the {@code TimingWheel}, sets
	 * the time to the real time, and forgets failures, the faults that the test has asked
	 * for, the starts that rates count, and pauses. What the application has started
	 * before the first test method stays: tasks with several runs, schedules and timers.
	 * The test framework calls this method before and after each test method.
	 * @throws IllegalStateException if a body calls this method, or another thread moves
	 * the time
	 */
	void reset();

	/**
	 * What happens with the exceptions of bodies.
	 */
	enum OnFailure {

		/** The method that moves the time throws them. */
		THROW,

		/** {@link VirtualTime#failures()} has them. */
		COLLECT

	}

}
