package io.timingwheel.interleaving;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Lets the threads of a {@link Race} take their steps in every order that a bounded
 * number of preemptions can bring about, one order after the other, as CHESS does
 * (Musuvathi and others, "Finding and Reproducing Heisenbugs in Concurrent Programs",
 * OSDI 2008): a thread runs until it blocks, ends, or is preempted before a step.
 *
 * <p>
 * Steps are the accesses to shared fields, arrays, locks and atomics in the classes of
 * the core, which an {@link InstrumentingClassLoader} makes visible. One thread runs at a
 * time, so what is explored are the orders of a sequentially consistent machine. That
 * these are all there are holds for programs without data races; each run is watched for
 * those, too.
 *
 * <p>
 * Time stands still: {@code parkNanos} waits to be unparked. A park never returns without
 * a reason, hence a wake-up that is lost leaves its thread waiting, which is found.
 */
public final class Interleavings {

	private static final int MOST = 2_000_000;

	private static final ClassLoader LOADER = new InstrumentingClassLoader(Interleavings.class.getClassLoader());

	private final String race;

	private final int preemptions;

	private final boolean everyAccess;

	private final List<ModelThread> threads = IntStream.range(0, DataRaces.MOST_THREADS)
		.mapToObj(ModelThread::new)
		.toList();

	private Set<String> knownRaces = Set.of();

	private Interleavings(Class<? extends Race> race, int preemptions, boolean everyAccess) {
		this.race = race.getName();
		this.preemptions = preemptions;
		this.everyAccess = everyAccess;
	}

	/**
	 * Preempts at locks, volatile fields and atomics. Enough where locks are kept.
	 */
	public static Interleavings atSynchronization(Class<? extends Race> race, int preemptions) {
		return new Interleavings(race, preemptions, false);
	}

	/**
	 * Preempts at plain fields and array elements, too.
	 */
	public static Interleavings atEveryAccess(Class<? extends Race> race, int preemptions) {
		return new Interleavings(race, preemptions, true);
	}

	/**
	 * Fields, as {@code Type.name}, that are read and written without order on purpose.
	 */
	public Interleavings knowing(String... knownRaces) {
		this.knownRaces = Set.of(knownRaces);
		return this;
	}

	/**
	 * Explores all interleavings.
	 * @return how many there are
	 * @throws AssertionError if one fails, with the steps that lead there
	 */
	public int explore() {
		this.threads.forEach(Thread::start);
		try {
			return explore(load());
		}
		finally {
			this.threads.forEach(ModelThread::leave);
		}
	}

	private int explore(Class<? extends Race> type) {
		int[] choices = {};
		for (int count = 1; count <= MOST; count++) {
			Run run = run(type, choices, false);
			if (run.failure() != null) {
				Run again = run(type, run.choices(), true);
				throw new AssertionError("Interleaving %d of %s fails:%n  %s".formatted(count, this.race,
						String.join("%n  ".formatted(), again.trace())), run.failure());
			}
			choices = next(run.choices(), run.options());
			if (choices == null) {
				return count;
			}
		}
		throw new AssertionError("More than " + MOST + " interleavings of " + this.race);
	}

	private Run run(Class<? extends Race> type, int[] choices, boolean traced) {
		Race race = create(type);
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
	 * The last choice that has an alternative left decides otherwise, depth first.
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

	private Class<? extends Race> load() {
		try {
			return LOADER.loadClass(this.race).asSubclass(Race.class);
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Race create(Class<? extends Race> type) {
		try {
			var constructor = type.getDeclaredConstructor();
			constructor.setAccessible(true);
			return constructor.newInstance();
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
