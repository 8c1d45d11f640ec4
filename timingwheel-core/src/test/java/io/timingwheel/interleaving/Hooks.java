package io.timingwheel.interleaving;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * The methods that instrumented code calls before each of its steps: operations of
 * atomics and concurrent collections, accesses to plain and volatile fields and to
 * elements, allocations, readings of the clock and rejections. It calls {@link #enter},
 * {@link #exit}, {@link #spin} and {@link #id} in place of the JVM's own.
 */
public final class Hooks {

	private static final Map<Object, ModelLock> MONITORS = Collections.synchronizedMap(new WeakHashMap<>());

	private static Runnable onAllocation;

	private static Runnable onClockReading;

	private Hooks() {
	}

	/**
	 * Says what a test with one thread does before each allocation and each reading of
	 * the clock, null for nothing.
	 */
	public static void observe(Runnable onAllocation, Runnable onClockReading) {
		Hooks.onAllocation = onAllocation;
		Hooks.onClockReading = onClockReading;
	}

	public static void observeNothing() {
		observe(null, null);
	}

	public static void allocation() {
		if (onAllocation != null) {
			onAllocation.run();
		}
	}

	public static void clockReading() {
		if (onClockReading != null) {
			onClockReading.run();
		}
	}

	/**
	 * An exception takes long, and other threads need the locks.
	 * @param locks how many the thread may hold
	 */
	public static void rejection(int locks) {
		ModelThread current = ModelThread.current();
		if (current != null && current.locks > locks) {
			check(current, "A rejection is made with " + current.locks + " locks held");
		}
	}

	public static void atomic() {
		ModelThread current = ModelThread.current();
		if (current != null) {
			current.scheduler().beforeStep(current);
		}
	}

	public static void plain(Object object, String field, boolean write) {
		ModelThread current = ModelThread.current();
		if (current != null) {
			Run run = current.scheduler();
			run.beforePlainStep(current);
			check(current, run.races().plain(current.index, object, field, write));
		}
	}

	private static void check(ModelThread current, String race) {
		if (race != null) {
			current.scheduler().abort(current, new AssertionError(race));
		}
	}

	public static void ordered(Object object, String field, boolean write) {
		ModelThread current = ModelThread.current();
		if (current != null) {
			current.scheduler().beforeStep(current);
			current.scheduler().races().ordered(current.index, object, field, write);
		}
	}

	public static void element(Object array, int index, boolean write) {
		ModelThread current = ModelThread.current();
		if (current != null) {
			Run run = current.scheduler();
			run.beforePlainStep(current);
			check(current, run.races().element(current.index, array, index, write));
		}
	}

	public static void enter(Object monitor) {
		lockOf(monitor).lock();
	}

	public static void exit(Object monitor) {
		lockOf(monitor).unlock();
	}

	private static ModelLock lockOf(Object monitor) {
		return MONITORS.computeIfAbsent(monitor, (key) -> new ModelLock());
	}

	/** How many locks a test with one thread holds. */
	public static int locksHeld() {
		return ModelLock.heldOutside;
	}

	public static void spin() {
		ModelThread current = ModelThread.current();
		if (current != null) {
			current.scheduler().letOthersRun(current);
		}
	}

	/** The same in each run. */
	public static long id(Thread thread) {
		return (thread instanceof ModelThread model) ? model.index : 0;
	}

}
