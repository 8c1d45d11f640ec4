package io.timingwheel.spring.faults;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;

import org.springframework.util.Assert;
import org.springframework.util.FileSystemUtils;

/**
 * The build of the first commit that stores tasks as the present one does. It is compiled
 * from the history of the project, and runs beside the present build on one store.
 */
final class FirstBuild {

	private static final String COMMIT = System.getProperty("timingwheel.first-build",
			"20c3c24c7f86fbaa3aa65b07fd351a4473bc541f");

	private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

	private static final List<String> SOURCES = Stream.of("core", "spring", "autoconfigure", "durable", "jdbc", "redis")
		.map("timingwheel-%s/src/main"::formatted)
		.toList();

	/**
	 * The class path of the module with the most optional libraries. Maven writes it in
	 * the profile of these tests.
	 */
	private static final Path LIBRARIES = PROJECT.resolve("timingwheel-autoconfigure/target/compile.classpath");

	private FirstBuild() {
	}

	/**
	 * The class path of nodes of the first build: its classes, the tests, and the present
	 * libraries. If there is no history, the test is skipped.
	 */
	static String classPath() throws IOException, InterruptedException {
		Path build = Path.of("target", "first-build").toAbsolutePath();
		Path classes = build.resolve("classes");
		FileSystemUtils.deleteRecursively(build);
		Files.createDirectories(build);
		extract(build);
		compile(build, classes);
		Stream<Path> own = Stream.concat(Stream.of(classes, Path.of("target/test-classes").toAbsolutePath()),
				SOURCES.stream().map((folder) -> build.resolve(folder).resolve("resources")));
		return join(Stream.concat(own, libraries(System.getProperty("java.class.path"))));
	}

	private static void extract(Path target) throws IOException, InterruptedException {
		String command = "git archive -o '%2$s/sources.tar' %1$s %3$s && tar -x -f '%2$s/sources.tar' -C '%2$s'"
			.formatted(COMMIT, target, String.join(" ", SOURCES));
		Process git = new ProcessBuilder("sh", "-c", command).directory(PROJECT.toFile())
			.redirectErrorStream(true)
			.start();
		String output = new String(git.getInputStream().readAllBytes());
		Assumptions.assumeTrue(git.waitFor() == 0,
				() -> "The history has no commit %s (git fetch --unshallow): %s".formatted(COMMIT, output));
		// This build calls the format in Redis 2, which an earlier format was, too.
		Path requirements = target
			.resolve("timingwheel-redis/src/main/java/io/timingwheel/spring/durable/redis/Requirements.java");
		String source = Files.readString(requirements);
		Assert.isTrue(source.contains("FORMAT = 2;"), () -> requirements + " has another format");
		Files.writeString(requirements, source.replace("FORMAT = 2;", "FORMAT = 1;"));
	}

	private static void compile(Path build, Path classes) throws IOException {
		Assumptions.assumeTrue(Files.exists(LIBRARIES),
				() -> LIBRARIES + " is missing. Maven writes it with -Pfaults.");
		String classPath = join(Stream.of(System.getProperty("java.class.path"), Files.readString(LIBRARIES))
			.flatMap(FirstBuild::libraries));
		List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-parameters", "--release", "17",
				"-d", classes.toString(), "-classpath", classPath));
		try (Stream<Path> files = Files.walk(build)) {
			files.map(Path::toString).filter((file) -> file.endsWith(".java")).forEach(arguments::add);
		}
		ToolProvider compiler = ToolProvider.findFirst("javac").orElseThrow();
		if (compiler.run(System.err, System.err, arguments.toArray(String[]::new)) != 0) {
			throw new IllegalStateException("The sources of %s do not compile".formatted(COMMIT));
		}
	}

	/** The jars of a class path without the modules of the project. */
	private static Stream<Path> libraries(String classPath) {
		return Stream.of(classPath.split(File.pathSeparator))
			.map(Path::of)
			.filter((entry) -> entry.toString().endsWith(".jar")
					&& !entry.getFileName().toString().startsWith("timingwheel-"));
	}

	private static String join(Stream<Path> classPath) {
		return classPath.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
	}

}
