package io.timingwheel.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.assertj.core.util.diff.DiffUtils;

/**
 * Compares what users see with a file that somebody has read and approved:
 * {@code src/test/resources/approved} of the module. The files have one fact on each
 * line, and nothing that differs between machines, JDKs or runs.
 *
 * <p>
 * The build compiles this class with the tests of each module. With the system property
 * {@code timingwheel.approve} a test writes its file.
 */
public final class Approved {

	static final Path FOLDER = Path.of("src", "test", "resources", "approved");

	private Approved() {
	}

	/**
	 * Checks that lines are those of a file.
	 * @param test the test, which the message names
	 * @param file the name of the file, without {@code .txt}
	 * @param lines the lines, in an order that does not vary
	 * @throws AssertionError if they differ; the message shows the difference, and the
	 * command that writes the file
	 */
	public static void verify(Class<?> test, String file, List<String> lines) {
		verify(test, FOLDER.resolve(file + ".txt"), lines);
	}

	/**
	 * Checks that lines are those of a file.
	 * @param test the test, which the message names
	 * @param path the file, seen from the folder of the module
	 * @param lines the lines, in an order that does not vary
	 * @throws AssertionError if they differ; the message shows the difference, and the
	 * command that writes the file
	 */
	public static void verify(Class<?> test, Path path, List<String> lines) {
		try {
			if (System.getProperty("timingwheel.approve") != null) {
				Files.createDirectories(path.toAbsolutePath().getParent());
				Files.write(path, lines);
			}
			List<String> approved = Files.exists(path) ? Files.readAllLines(path) : List.of();
			if (!approved.equals(lines)) {
				throw new AssertionError(message(test, path, approved, lines));
			}
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	private static String message(Class<?> test, Path path, List<String> approved, List<String> lines) {
		String module = Path.of("").toAbsolutePath().getFileName().toString();
		List<String> difference = DiffUtils.generateUnifiedDiff("approved", "now", approved,
				DiffUtils.diff(approved, lines), 2);
		return """
				%s/%s differs from what users see now:

				%s

				If the difference is intended, this command writes the file, which is part of the change:
				mvn verify -pl %s -am -Dtest=%s -Dsurefire.failIfNoSpecifiedTests=false -Dtimingwheel.approve
				""".formatted(module, path, String.join("\n", difference), module, test.getSimpleName());
	}

}
