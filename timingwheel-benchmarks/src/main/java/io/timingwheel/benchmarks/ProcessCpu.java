package io.timingwheel.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;

/**
 * The processor time that this JVM has used, as the operating system counts it.
 */
public final class ProcessCpu {

	private static final OperatingSystemMXBean SYSTEM = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	private static final Path THREADS = Path.of("/proc/self/task");

	private ProcessCpu() {
	}

	/**
	 * The time of all threads, ended ones too. Linux counts it in steps of 10 ms.
	 */
	public static long nanos() {
		return SYSTEM.getProcessCpuTime();
	}

	/**
	 * The time of the threads that are alive, in nanoseconds where the system offers this
	 * precision.
	 */
	public static long preciseNanos() {
		try (Stream<Path> threads = Files.list(THREADS)) {
			long sum = 0;
			for (Path thread : (Iterable<Path>) threads::iterator) {
				sum += nanosOf(thread);
			}
			return sum;
		}
		catch (NoSuchFileException ex) {
			return nanos();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static long nanosOf(Path thread) throws IOException {
		List<String> lines = Files.readAllLines(thread.resolve("schedstat"));
		String line = lines.get(0);
		return Long.parseLong(line.substring(0, line.indexOf(' ')));
	}

}
