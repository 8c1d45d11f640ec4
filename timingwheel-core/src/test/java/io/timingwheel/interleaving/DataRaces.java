package io.timingwheel.interleaving;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Finds data races by vector clocks: two plain accesses to the same field or element, one
 * of them a write, that no lock or volatile field orders. Atomics count as ordering
 * nothing. So this class may report more races than the memory model knows, but never
 * fewer.
 */
final class DataRaces {

	static final int MOST_THREADS = 4;

	/**
	 * Fields that are read without the lock on purpose. After the reads of a timer, the
	 * reader finds out under the lock, or by a compare-and-set, whether they still hold.
	 * The driver looks whether timers wait, and takes them under the lock.
	 */
	private static final Set<String> READ_WITHOUT_LOCK = Set.of("Timer.place", "Timer.task", "TimerList.size");

	private final int[][] clocks = new int[MOST_THREADS][MOST_THREADS];

	private final Map<Object, Map<Object, Accesses>> plain = new IdentityHashMap<>();

	private final Map<Object, Map<String, int[]>> ordered = new IdentityHashMap<>();

	DataRaces() {
		for (int thread = 0; thread < MOST_THREADS; thread++) {
			this.clocks[thread][thread] = 1;
		}
	}

	void acquire(int thread, int[] released) {
		join(this.clocks[thread], released);
	}

	void release(int thread, int[] released) {
		join(released, this.clocks[thread]);
		this.clocks[thread][thread]++;
	}

	void ordered(int thread, Object object, String field, boolean write) {
		int[] written = this.ordered.computeIfAbsent(object, (key) -> new HashMap<>())
			.computeIfAbsent(field, (key) -> new int[MOST_THREADS]);
		if (write) {
			release(thread, written);
		}
		else {
			acquire(thread, written);
		}
	}

	/**
	 * Notes an access to a field.
	 * @param field the field, as {@code Type.name}
	 * @return a description of the race, null if there is none
	 */
	String plain(int thread, Object object, String field, boolean write) {
		return plain(accesses(object, field), thread, object, write);
	}

	/**
	 * Notes an access to an element of an array.
	 * @return a description of the race, null if there is none
	 */
	String element(int thread, Object array, int index, boolean write) {
		return plain(accesses(array, index), thread, array, write);
	}

	private Accesses accesses(Object object, Object place) {
		Map<Object, Accesses> places = this.plain.get(object);
		if (places == null) {
			places = new HashMap<>();
			this.plain.put(object, places);
		}
		Accesses accesses = places.get(place);
		if (accesses == null) {
			String name = (place instanceof Integer index) ? "[" + index + "]" : (String) place;
			accesses = new Accesses(name, READ_WITHOUT_LOCK.contains(name));
			places.put(place, accesses);
		}
		return accesses;
	}

	private String plain(Accesses before, int thread, Object object, boolean write) {
		if (before.known) {
			return null;
		}
		int[] clock = this.clocks[thread];
		for (int other = 0; other < MOST_THREADS; other++) {
			if (before.writes[other] > clock[other] || (write && before.reads[other] > clock[other])) {
				return "Data race on %s of %s between threads %d and %d".formatted(before.place,
						object.getClass().getSimpleName(), other, thread);
			}
		}
		(write ? before.writes : before.reads)[thread] = clock[thread];
		return null;
	}

	private static void join(int[] clock, int[] other) {
		for (int i = 0; i < clock.length; i++) {
			clock[i] = Math.max(clock[i], other[i]);
		}
	}

	private static final class Accesses {

		private final String place;

		private final boolean known;

		private final int[] reads = new int[MOST_THREADS];

		private final int[] writes = new int[MOST_THREADS];

		Accesses(String place, boolean known) {
			this.place = place;
			this.known = known;
		}

	}

}
