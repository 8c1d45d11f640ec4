package io.timingwheel;

import java.util.Map;
import java.util.stream.Stream;

import io.timingwheel.interleaving.Interleavings;
import io.timingwheel.interleaving.Race;
import org.junit.jupiter.api.TestReporter;

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

	/**
	 * Explores a race.
	 * @param known further fields and elements that are read without the lock on purpose
	 */
	static void explore(Class<? extends Race> race, TestReporter reporter, String... known) {
		String[] readWithoutLock = Stream.of(READ_WITHOUT_LOCK, known).flatMap(Stream::of).toArray(String[]::new);
		int atSynchronization = Interleavings.atSynchronization(race, 2 + MORE_PREEMPTIONS)
			.knowing(readWithoutLock)
			.explore();
		int atEveryAccess = Interleavings.atEveryAccess(race, 1 + MORE_PREEMPTIONS).knowing(readWithoutLock).explore();
		reporter.publishEntry(Map.of("race", race.getSimpleName(), "at synchronization",
				String.valueOf(atSynchronization), "at every access", String.valueOf(atEveryAccess)));
		assertThat(atSynchronization).isGreaterThan(1);
		assertThat(atEveryAccess).isGreaterThan(1);
	}

	/**
	 * Explores more interleavings of a race with few steps.
	 */
	static void exploreWithTwoPreemptionsAnywhere(Class<? extends Race> race) {
		assertThat(Interleavings.atEveryAccess(race, 2).knowing(READ_WITHOUT_LOCK).explore()).isGreaterThan(1);
	}

	/**
	 * Explores more interleavings of a race that needs a preemption to begin.
	 */
	static void exploreWithThreePreemptionsAtSynchronization(Class<? extends Race> race) {
		assertThat(Interleavings.atSynchronization(race, 3).knowing(READ_WITHOUT_LOCK).explore()).isGreaterThan(1);
	}

}
