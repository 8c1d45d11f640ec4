package io.timingwheel.interleaving;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * The methods that instrumented code calls before each of its steps.
 */
public final class Hooks {

	private static final Map<Object, ModelLock> MONITORS = Collections.synchronizedMap(new WeakHashMap<>());

	private Hooks() {
	}

	/**
	 * Called before an operation of an atomic or of a concurrent collection.
	 */
	public static void atomic() {
		ModelThread current = ModelThread.current();
		if (current != null) {
			current.scheduler().beforeStep(current);
		}
	}

	/**
	 * Called before a plain field is read or written.
	 */
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

	/**
	 * Called before a volatile field is read or written.
	 */
	public static void ordered(Object object, String field, boolean write) {
		ModelThread current = ModelThread.current();
		if (current != null) {
			current.scheduler().beforeStep(current);
			current.scheduler().races().ordered(current.index, object, field, write);
		}
	}

	/**
	 * Called before an element of an array is read or written.
	 */
	public static void element(Object array, int index, boolean write) {
		ModelThread current = ModelThread.current();
		if (current != null) {
			Run run = current.scheduler();
			run.beforePlainStep(current);
			check(current, run.races().element(current.index, array, index, write));
		}
	}

	/**
	 * Called in place of {@code monitorenter}.
	 */
	public static void enter(Object monitor) {
		lockOf(monitor).lock();
	}

	/**
	 * Called in place of {@code monitorexit}.
	 */
	public static void exit(Object monitor) {
		lockOf(monitor).unlock();
	}

	private static ModelLock lockOf(Object monitor) {
		return MONITORS.computeIfAbsent(monitor, (key) -> new ModelLock());
	}

	/**
	 * Called in place of {@link Thread#onSpinWait()} and {@link Thread#yield()}.
	 */
	public static void spin() {
		ModelThread current = ModelThread.current();
		if (current != null) {
			current.scheduler().letOthersRun(current);
		}
	}

	/**
	 * Called in place of {@link Thread#getId()}. The result is the same in each run.
	 */
	public static long id(Thread thread) {
		return (thread instanceof ModelThread model) ? model.index : 0;
	}

}
