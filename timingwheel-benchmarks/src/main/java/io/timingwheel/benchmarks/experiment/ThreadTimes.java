package io.timingwheel.benchmarks.experiment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

import io.timingwheel.benchmarks.ProcessCpu;

/**
 * The processor time of each thread that was alive at one moment. Linux counts these
 * times in nanoseconds, but the time of a process in steps of 10 ms, which is too coarse
 * for a JVM that idles.
 *
 * @param nanosOfThread the time of each thread, by the thread's folder. On other systems
 * the only entry is the time of the process
 */
record ThreadTimes(Map<Path, Long> nanosOfThread) {

	private static final Path PROCESS = Path.of("/proc/self");

	private static final Path THREADS = PROCESS.resolve("task");

	private static final String TIMES = "schedstat";

	/** Reads the present times. */
	static ThreadTimes read() {
		if (!Files.exists(PROCESS.resolve(TIMES))) {
			return new ThreadTimes(Map.of(PROCESS, ProcessCpu.nanos()));
		}
		Map<Path, Long> times = new HashMap<>();
		try (Stream<Path> threads = Files.list(THREADS)) {
			threads.forEach((thread) -> read(thread, times));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return new ThreadTimes(times);
	}

	private static void read(Path thread, Map<Path, Long> times) {
		try {
			String time = Files.readString(thread.resolve(TIMES));
			times.put(thread, Long.parseLong(time.substring(0, time.indexOf(' '))));
		}
		catch (IOException ex) {
			// The thread has just ended.
		}
	}

	/**
	 * The time that the present threads have used since an earlier reading. The time of a
	 * thread that has ended meanwhile does not count.
	 */
	long nanosSince(ThreadTimes earlier) {
		return this.nanosOfThread.entrySet()
			.stream()
			.mapToLong((thread) -> thread.getValue() - earlier.nanosOfThread.getOrDefault(thread.getKey(), 0L))
			.sum();
	}

}
