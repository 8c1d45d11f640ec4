package io.timingwheel;

import java.io.File;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a wheel survives a shortage of memory, in a JVM of its own.
 */
class OutOfMemoryTests {

	@Test
	void driverThatFindsNoMemoryInACascadeContinuesOnceThereIsMemoryAgain() throws Exception {
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx24m", "-XX:+UseSerialGC", "-XX:-UseTLAB", "-cp", classPath(), Shortage.class.getName())
			.redirectErrorStream(true)
			.start();
		try {
			String output = new String(process.getInputStream().readAllBytes());
			assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
			assertThat(process.exitValue()).as(output).isZero();
		}
		finally {
			process.destroyForcibly();
		}
	}

	private static String classPath() throws Exception {
		return new File(TimingWheel.class.getProtectionDomain().getCodeSource().getLocation().toURI()).getPath()
				+ File.pathSeparator
				+ new File(OutOfMemoryTests.class.getProtectionDomain().getCodeSource().getLocation().toURI())
					.getPath();
	}

	/**
	 * Schedules timers, uses up the memory until they are overdue, and frees the memory.
	 */
	static final class Shortage {

		private static final int TIMERS = 20_000;

		/** The timers must not be due before the memory is used up. */
		private static final long SHORTEST_DELAY_MILLIS = 1_500;

		private static final long LONGEST_DELAY_MILLIS = 24_000;

		/** A timer without memory is late by at least this much. */
		private static final long SHORTAGE_MILLIS = 500;

		private static final AtomicInteger RUNS = new AtomicInteger();

		private static Object[] ballast;

		private Shortage() {
		}

		public static void main(String[] arguments) throws Exception {
			long delay = SHORTEST_DELAY_MILLIS;
			while (!survivesAShortage(delay)) {
				if (delay == LONGEST_DELAY_MILLIS) {
					throw new IllegalStateException("The shortage has stopped no timer");
				}
				RUNS.set(0);
				delay *= 2;
			}
		}

		/**
		 * Returns whether the shortage has stopped a timer.
		 */
		private static boolean survivesAShortage(long delay) throws Exception {
			TimingWheel wheel = TimingWheel.builder(Runnable::run).build();
			Runnable task = RUNS::incrementAndGet;
			long due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delay);
			for (int i = 0; i < TIMERS; i++) {
				wheel.schedule(task, delay + i % 200, TimeUnit.MILLISECONDS);
			}
			useUpMemory();
			while (System.nanoTime() - due < TimeUnit.MILLISECONDS.toNanos(SHORTAGE_MILLIS)) {
				Thread.onSpinWait();
			}
			int runsInTheShortage = RUNS.get();
			ballast = null;
			if (runsInTheShortage == TIMERS) {
				wheel.close();
				return false;
			}
			awaitRuns(TIMERS, wheel);
			WheelSnapshot snapshot = wheel.snapshot();
			if (snapshot.fired() != TIMERS || snapshot.pending() != 0
					|| snapshot.state() != WheelSnapshot.State.RUNNING) {
				throw new IllegalStateException(snapshot.toString());
			}
			wheel.schedule(task, 1, TimeUnit.MILLISECONDS);
			awaitRuns(TIMERS + 1, wheel);
			return true;
		}

		private static void awaitRuns(int count, TimingWheel wheel) throws InterruptedException {
			long begin = System.nanoTime();
			// The wheel counts a run after it.
			while (RUNS.get() < count || wheel.snapshot().fired() < count || wheel.pending() != 0) {
				if (System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(60)) {
					throw new IllegalStateException("Of " + count + " timers " + RUNS + " have fired: " + wheel);
				}
				Thread.sleep(5);
			}
		}

		private static void useUpMemory() {
			for (int size = 1 << 20; size > 0; size /= 2) {
				try {
					while (true) {
						Object[] more = new Object[1 + size / 4];
						more[0] = ballast;
						ballast = more;
					}
				}
				catch (OutOfMemoryError ex) {
					// Smaller objects may still fit.
				}
			}
		}

	}

}
