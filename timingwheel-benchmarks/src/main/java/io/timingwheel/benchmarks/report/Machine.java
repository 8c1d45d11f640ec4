package io.timingwheel.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;

/** The machine and the date of a measurement. */
final class Machine {

	private static final Path CPU_INFO = Path.of("/proc/cpuinfo");

	private Machine() {
	}

	static String describe(Effort effort, int rounds) throws IOException {
		return """
				%s, %d cores (%s), %s %s, JVM settings `%s`; %s. Each figure is the median of %s in which \
				the peers took turns, each time in a new JVM. The ratio to the best peer is in brackets.
				""".formatted(System.getProperty("os.name"), Runtime.getRuntime().availableProcessors(), processor(),
				System.getProperty("java.vm.name"), System.getProperty("java.runtime.version"),
				String.join(" ", effort.jvmArgs()), LocalDate.now(), (rounds == 1) ? "one round" : rounds + " rounds");
	}

	private static String processor() throws IOException {
		if (Files.exists(CPU_INFO)) {
			for (String line : Files.readAllLines(CPU_INFO)) {
				if (line.startsWith("model name")) {
					return line.substring(line.indexOf(':') + 1).trim();
				}
			}
		}
		return System.getProperty("os.arch");
	}

}
