package io.timingwheel;

import org.junit.jupiter.params.provider.Arguments;

import io.timingwheel.interleaving.Interleavings;
import io.timingwheel.interleaving.Race;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Explores the interleavings of a few threads on one wheel: two preemptions at locks,
 * volatile fields and atomics, or one anywhere. One more of each takes about four minutes
 * for all races:
 *
 * <pre>
 * mvn verify -pl timingwheel-core -Dtest='*RaceTests' -Dtimingwheel.preemptions=1
 * </pre>
 */
final class RaceExploration {

	private static final int MORE_PREEMPTIONS = Integer.getInteger("timingwheel.preemptions", 0);

	/**
	 * Fields that are read without the lock on purpose. After the reads of a timer, the
	 * reader finds out under the lock, or by a compare-and-set, whether they still hold.
	 * The driver looks whether timers wait, and takes them under the lock.
	 */
	private static final String[] READ_WITHOUT_LOCK = { "Timer.place", "Timer.task", "TimerList.size" };

	private RaceExploration() {
	}

	static Arguments race(Class<? extends Race> race, Object... arguments) {
		return Arguments.of(race, arguments);
	}

	/**
	 * Explores a race.
	 * @param arguments the arguments of its constructor
	 */
	static void explore(Class<? extends Race> race, Object... arguments) {
		explore(Interleavings.atSynchronization(race, 2 + MORE_PREEMPTIONS, arguments));
		explore(Interleavings.atEveryAccess(race, 1 + MORE_PREEMPTIONS, arguments));
	}

	/**
	 * Explores more interleavings of a race with few steps.
	 */
	static void exploreWithTwoPreemptionsAnywhere(Class<? extends Race> race, Object... arguments) {
		explore(Interleavings.atEveryAccess(race, 2, arguments));
	}

	/**
	 * Explores more interleavings of a race that needs a preemption to begin.
	 */
	static void exploreWithThreePreemptionsAtSynchronization(Class<? extends Race> race) {
		explore(Interleavings.atSynchronization(race, 3));
	}

	private static void explore(Interleavings interleavings) {
		assertThat(interleavings.knowing(READ_WITHOUT_LOCK).explore()).isGreaterThan(1);
	}

}
