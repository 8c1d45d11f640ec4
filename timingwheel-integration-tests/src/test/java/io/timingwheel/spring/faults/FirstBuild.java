package io.timingwheel.spring.faults;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Assumptions;

import org.springframework.util.FileSystemUtils;

/**
 * The build of the first commit that stores tasks as the present one does. It is compiled
 * from the history of the project, and runs beside the present build on one store.
 */
final class FirstBuild {

	private static final String COMMIT = "20c3c24c7f86fbaa3aa65b07fd351a4473bc541f";

	private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

	private static final List<String> MODULES = Stream.of("core", "spring", "autoconfigure", "durable", "jdbc", "redis")
		.map("timingwheel-"::concat)
		.toList();

	/**
	 * The class path of the module with the most optional libraries. Maven writes it in
	 * the profile of these tests.
	 */
	private static final Path LIBRARIES = PROJECT.resolve("timingwheel-autoconfigure/target/compile.classpath");

	private static final String CLASSES = "classes";

	private final String commit = System.getProperty("timingwheel.first-build", COMMIT);

	/**
	 * The class path of nodes of the first build: its classes, the tests, and the present
	 * libraries. If there is no history, the test is skipped.
	 */
	String classPath() throws IOException, InterruptedException {
		Path build = build();
		Stream<Path> own = Stream.concat(
				Stream.of(build.resolve(CLASSES), Path.of("target/test-classes").toAbsolutePath()),
				MODULES.stream().map(build::resolve));
		return join(Stream.concat(own, libraries(System.getProperty("java.class.path"))));
	}

	private Path build() throws IOException, InterruptedException {
		Path folder = Files.createDirectories(Path.of("target", "first-build").toAbsolutePath());
		Path build = folder.resolve(this.commit);
		if (!Files.exists(build)) {
			Path unfinished = folder.resolve("unfinished");
			FileSystemUtils.deleteRecursively(unfinished);
			Files.createDirectories(unfinished);
			try (FileSystem sources = FileSystems.newFileSystem(archive(folder))) {
				build(sources, unfinished);
			}
			Files.move(unfinished, build);
		}
		return build;
	}

	private Path archive(Path folder) throws IOException, InterruptedException {
		Path archive = folder.resolve("sources.zip");
		List<String> command = new ArrayList<>(
				List.of("git", "archive", "--format=zip", "--output=" + archive, this.commit));
		MODULES.forEach((module) -> command.add(module + "/src/main"));
		Process git;
		try {
			git = new ProcessBuilder(command).directory(PROJECT.toFile()).redirectErrorStream(true).start();
		}
		catch (IOException ex) {
			return Assumptions.abort("No git, so there is no earlier build: " + ex.getMessage());
		}
		String output = new String(git.getInputStream().readAllBytes());
		if (git.waitFor() != 0) {
			return Assumptions.abort("No commit %s in the history of this checkout (git fetch --unshallow): %s"
				.formatted(this.commit, output));
		}
		return archive;
	}

	/**
	 * Compiles all modules into one folder. Each module has its resources in a folder of
	 * its own, since some have the same name.
	 */
	private void build(FileSystem sources, Path target) throws IOException {
		Assumptions.assumeTrue(Files.exists(LIBRARIES),
				() -> LIBRARIES + " is missing. Maven writes it with -Pfaults.");
		String classPath = join(Stream.of(System.getProperty("java.class.path"), Files.readString(LIBRARIES))
			.flatMap(FirstBuild::libraries));
		List<Path> java = new ArrayList<>();
		for (String module : MODULES) {
			try (Stream<Path> files = Files.walk(sources.getPath(module, "src", "main"))) {
				for (Path file : files.filter(Files::isRegularFile).toList()) {
					if (file.toString().endsWith(".java")) {
						java.add(file);
					}
					else {
						Path copy = target.resolve(module + "/" + file.subpath(4, file.getNameCount()));
						Files.createDirectories(copy.getParent());
						Files.copy(file, copy);
					}
				}
			}
		}
		compile(java, List.of("-proc:none", "-nowarn", "-parameters", "--release", "17", "-d",
				target.resolve(CLASSES).toString(), "-classpath", classPath));
	}

	private void compile(List<Path> sources, List<String> options) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			Iterable<? extends JavaFileObject> units = files.getJavaFileObjectsFromPaths(sources);
			if (!compiler.getTask(null, files, null, options, null, units).call()) {
				throw new IllegalStateException("The sources of %s do not compile".formatted(this.commit));
			}
		}
	}

	/**
	 * The jars of a class path without the modules of the project.
	 */
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
