package io.timingwheel.interleaving;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

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
 * fails.
 */
public final class Interleavings {

	private static final int MOST = 2_000_000;

	private final Class<? extends Race> race;

	private final Object[] arguments;

	private final int preemptions;

	private final boolean everyAccess;

	private final List<ModelThread> threads = IntStream.range(0, DataRaces.MOST_THREADS)
		.mapToObj(ModelThread::new)
		.toList();

	private Set<String> knownRaces = Set.of();

	private Interleavings(Class<? extends Race> race, int preemptions, boolean everyAccess, Object[] arguments) {
		this.race = race;
		this.arguments = arguments;
		this.preemptions = preemptions;
		this.everyAccess = everyAccess;
	}

	/**
	 * Preempts threads at locks, volatile fields and atomics. That is enough if locks
	 * guard all plain fields.
	 */
	public static Interleavings atSynchronization(Class<? extends Race> race, int preemptions, Object... arguments) {
		return new Interleavings(race, preemptions, false, arguments);
	}

	/**
	 * Preempts threads at plain fields and array elements, too.
	 */
	public static Interleavings atEveryAccess(Class<? extends Race> race, int preemptions, Object... arguments) {
		return new Interleavings(race, preemptions, true, arguments);
	}

	/**
	 * Names fields, as {@code Type.name}, that have data races on purpose.
	 */
	public Interleavings knowing(String... knownRaces) {
		this.knownRaces = Set.of(knownRaces);
		return this;
	}

	/**
	 * Explores all interleavings.
	 * @return the number of interleavings
	 * @throws AssertionError if one fails. The message names the steps that lead to the
	 * failure
	 */
	public int explore() {
		this.threads.forEach(Thread::start);
		try {
			return explore(InstrumentingClassLoader.constructor(this.race));
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
		Run run = new Run(choices, this.preemptions, this.everyAccess, this.knownRaces, traced);
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
