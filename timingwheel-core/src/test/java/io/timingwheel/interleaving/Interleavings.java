package io.timingwheel.interleaving;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.params.provider.Arguments;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Explores the interleavings of a {@link Race}: runs it once for each order of steps that
 * a bounded number of preemptions allows, as CHESS does (Musuvathi and others, "Finding
 * and Reproducing Heisenbugs in Concurrent Programs", OSDI 2008). A thread runs until it
 * blocks, ends, or is preempted before a step.
 *
 * <p>
 * Steps are the accesses to shared fields, arrays, locks and atomics in the classes of
 * the core, which an {@link InstrumentingClassLoader} instruments. Only one thread runs
 * at a time, so these are the orders of a sequentially consistent machine. A program
 * without data races has no others. So each run is also checked for data races.
 *
 * <p>
 * The time stands still: {@code parkNanos} waits for an unpark. A park never returns
 * without a reason. So a lost wake-up leaves a thread waiting for ever, and the run
 * fails. The message of a failure names the steps that lead to it.
 *
 * <p>
 * {@code explore} tries a race with up to two preemptions at locks, volatile fields and
 * atomics, which is enough if locks guard all plain fields, and with up to one anywhere.
 * One more of each takes about four minutes for all races:
 *
 * <pre>
 * mvn verify -pl timingwheel-core -Dtest='*RaceTests' -Dtimingwheel.preemptions=1
 * </pre>
 */
public final class Interleavings {

	private static final int MOST = 2_000_000;

	private static final int MORE_PREEMPTIONS = Integer.getInteger("timingwheel.preemptions", 0);

	private final Class<? extends Race> race;

	private final Object[] arguments;

	private final int preemptions;

	private final boolean everyAccess;

	private final List<ModelThread> threads = IntStream.range(0, DataRaces.MOST_THREADS)
		.mapToObj(ModelThread::new)
		.toList();

	private Interleavings(Class<? extends Race> race, int preemptions, boolean everyAccess, Object[] arguments) {
		this.race = race;
		this.arguments = arguments;
		this.preemptions = preemptions;
		this.everyAccess = everyAccess;
	}

	/** The arguments of a parameterized test. */
	public static Arguments race(Class<? extends Race> race, Object... arguments) {
		return Arguments.of(race, arguments);
	}

	/**
	 * Explores a race.
	 * @param arguments the arguments of its constructor
	 */
	public static void explore(Class<? extends Race> race, Object... arguments) {
		new Interleavings(race, 2 + MORE_PREEMPTIONS, false, arguments).explore();
		new Interleavings(race, 1 + MORE_PREEMPTIONS, true, arguments).explore();
	}

	/**
	 * Explores a race with few steps. Its interleavings are more than those of
	 * {@code explore}.
	 */
	public static void exploreWithTwoPreemptionsAnywhere(Class<? extends Race> race, Object... arguments) {
		if (MORE_PREEMPTIONS > 0) {
			explore(race, arguments);
		}
		new Interleavings(race, 2, true, arguments).explore();
	}

	/** Explores more interleavings of a race that needs a preemption to begin. */
	public static void exploreWithThreePreemptionsAtSynchronization(Class<? extends Race> race) {
		new Interleavings(race, 3, false, new Object[0]).explore();
	}

	private void explore() {
		this.threads.forEach(Thread::start);
		try {
			int count = explore(InstrumentingClassLoader.constructor(this.race));
			assertThat(count).as("interleavings").isGreaterThan(1);
		}
		finally {
			this.threads.forEach(ModelThread::leave);
		}
	}

	private int explore(Constructor<?> constructor) {
		int[] choices = {};
		for (int count = 1; count <= MOST; count++) {
			Run run = run(constructor, choices, false);
			if (run.failure() != null) {
				Run again = run(constructor, run.choices(), true);
				throw new AssertionError("Interleaving %d of %s fails:%n  %s".formatted(count, this.race.getName(),
						String.join("%n  ".formatted(), again.trace())), run.failure());
			}
			choices = next(run.choices(), run.options());
			if (choices == null) {
				return count;
			}
		}
		throw new AssertionError("More than " + MOST + " interleavings of " + this.race.getName());
	}

	private Run run(Constructor<?> constructor, int[] choices, boolean traced) {
		Race race = create(constructor);
		Run run = new Run(choices, this.preemptions, this.everyAccess, traced);
		List<Runnable> threads = race.threads();
		run.run(threads, this.threads);
		if (run.failure() == null) {
			try {
				race.verify();
			}
			catch (Throwable ex) {
				run.fail(ex);
			}
		}
		return run;
	}

	/**
	 * The choices of the next run, depth first: changes the last choice that has an
	 * alternative left.
	 */
	private static int[] next(int[] choices, int[] options) {
		for (int i = choices.length - 1; i >= 0; i--) {
			if (choices[i] + 1 < options[i]) {
				int[] next = Arrays.copyOf(choices, i + 1);
				next[i]++;
				return next;
			}
		}
		return null;
	}

	private Race create(Constructor<?> constructor) {
		try {
			return (Race) constructor.newInstance(this.arguments);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
