import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

/**
 * Checks the tests: plants one fault after the other in a copy of the project, and runs
 * the test that must fail. CONTRIBUTING.md has the command.
 *
 * <p>
 * Each file {@code *.patch} below the folder of this program is a fault: the promise that
 * it breaks, the test, and a unified diff. Arguments that begin with {@code -} go to
 * Maven. All others are parts of the names of the faults to plant. Without any, all
 * faults are planted. With {@code --list}, all faults are only listed, as CSV. The
 * program needs nothing but a JDK and Maven.
 */
public final class PlantedFaults {

	private static final Duration LIMIT_OF_A_RUN = Duration.ofMinutes(3);

	/** Most tests wait for most of their time. */
	private static final int AT_ONCE = Math.max(2, Runtime.getRuntime().availableProcessors() / 2);

	private final Path checkout;

	/** Below Maven's own folder, so that Git ignores it and {@code mvn clean} deletes it. */
	private final Path work;

	private final Path copy;

	/** The class path of the tests of each module, as far as it has been read. */
	private final Map<String, String> classPaths = new ConcurrentHashMap<>();

	private PlantedFaults(Path checkout) {
		this.checkout = checkout;
		this.work = checkout.resolve("target").resolve("planted-faults");
		this.copy = this.work.resolve("copy");
	}

	public static void main(String[] args) throws Exception {
		Path checkout = Path.of("").toAbsolutePath();
		if (!Files.isDirectory(checkout.resolve("src/planted-faults"))) {
			System.err.println("Run this in the folder of the project");
			System.exit(2);
		}
		PlantedFaults program = new PlantedFaults(checkout);
		if (List.of(args).contains("--list")) {
			System.out.println("fault,promise,test");
			program.faults(List.of())
				.forEach((fault) -> System.out.printf("\"%s\",\"%s\",\"%s\"%n", fault.name(),
						fault.promise().replace("\"", "\"\""), fault.test()));
			return;
		}
		List<String> maven = Arrays.stream(args).filter((arg) -> arg.startsWith("-")).toList();
		List<String> names = Arrays.stream(args).filter((arg) -> !arg.startsWith("-")).toList();
		System.exit(program.run(names, maven) ? 0 : 1);
	}

	private boolean run(List<String> names, List<String> mavenArguments) throws Exception {
		List<Fault> faults = faults(names);
		if (faults.isEmpty()) {
			System.err.println("No fault has such a name");
			return false;
		}
		delete(logs());
		delete(this.work.resolve("overlays"));
		Files.createDirectories(logs());
		say("Copying and compiling the project");
		build(copyCheckout(), mavenArguments);
		Set<TestMethod> red = redTests(faults);
		Map<Fault, Result> results = plant(faults, red);
		print(results);
		return results.values().stream().allMatch(Result::caught);
	}

	private List<Fault> faults(List<String> names) throws IOException {
		Path folder = this.checkout.resolve("src/planted-faults");
		try (Stream<Path> files = Files.walk(folder)) {
			List<Path> patches = files.filter((file) -> file.toString().endsWith(".patch")).sorted().toList();
			List<Fault> faults = new ArrayList<>();
			for (Path patch : patches) {
				String name = folder.relativize(patch).toString().replace('\\', '/').replaceFirst("\\.patch$", "");
				if (names.isEmpty() || names.stream().anyMatch(name::contains)) {
					faults.add(Fault.read(name, Files.readAllLines(patch)));
				}
			}
			return faults;
		}
	}

	/**
	 * Copies what has changed, so that Maven compiles only this.
	 * @return whether anything has changed
	 */
	private boolean copyCheckout() throws IOException {
		Set<Path> present = new HashSet<>();
		AtomicBoolean changed = new AtomicBoolean();
		Files.walkFileTree(this.checkout, new SimpleFileVisitor<>() {

			@Override
			public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
				String name = folder.getFileName().toString();
				return (name.equals("target") || name.equals("planted-faults") || name.equals(".git"))
						? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
				if (file.getFileName().toString().equals(".git")) {
					return FileVisitResult.CONTINUE;
				}
				Path relative = PlantedFaults.this.checkout.relativize(file);
				Path target = PlantedFaults.this.copy.resolve(relative);
				present.add(target);
				if (!Files.exists(target) || Files.size(target) != attributes.size()
						|| !Files.getLastModifiedTime(target).equals(attributes.lastModifiedTime())) {
					changed.set(true);
					Files.createDirectories(target.getParent());
					Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
				}
				return FileVisitResult.CONTINUE;
			}

		});
		Files.walkFileTree(this.copy, new SimpleFileVisitor<>() {

			@Override
			public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
				return folder.getFileName().toString().equals("target") ? FileVisitResult.SKIP_SUBTREE
						: FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
				if (!present.contains(file)) {
					changed.set(true);
					Files.delete(file);
				}
				return FileVisitResult.CONTINUE;
			}

		});
		return changed.get();
	}

	private void build(boolean changed, List<String> arguments) throws Exception {
		Path built = this.work.resolve("built");
		if (!changed && Files.exists(built)) {
			return;
		}
		Files.deleteIfExists(built);
		boolean windows = System.getProperty("os.name").startsWith("Windows");
		List<String> command = new ArrayList<>(List.of(windows ? "mvn.cmd" : "mvn", "-B", "-q", "-ntp",
				"-Pplanted-faults", "-Dspring-boot.aot.skip", "-Dspring-javaformat.skip"));
		command.addAll(arguments);
		command.add("test-compile");
		Path log = log("build");
		if (execute(command, this.copy, log, Duration.ofHours(1)) != 0) {
			throw new IllegalStateException("The project does not compile: see " + log);
		}
		Files.delete(log);
		Files.createFile(built);
	}

	/**
	 * Runs all tests without a fault, those of a module together. Where one of them
	 * fails, each runs alone.
	 */
	private Set<TestMethod> redTests(List<Fault> faults) throws Exception {
		Map<String, Set<TestMethod>> tests = new TreeMap<>();
		faults.forEach((fault) -> tests.computeIfAbsent(fault.test().module(), (module) -> new LinkedHashSet<>())
			.add(fault.test()));
		Set<TestMethod> red = new LinkedHashSet<>();
		for (Map.Entry<String, Set<TestMethod>> module : tests.entrySet()) {
			say("Running without a fault: %d tests of %s".formatted(module.getValue().size(), module.getKey()));
			Path log = log(module.getKey());
			Duration limit = LIMIT_OF_A_RUN.multipliedBy(module.getValue().size());
			boolean green = test(module.getKey(), module.getValue(), null, log, limit) == 0;
			List<TestMethod> doubtful = green ? notIn(log, module.getValue()) : List.copyOf(module.getValue());
			if (green) {
				Files.delete(log);
			}
			for (TestMethod test : doubtful) {
				Path logOfOne = log(test.toString());
				if (test(module.getKey(), Set.of(test), null, logOfOne, LIMIT_OF_A_RUN) != 0) {
					say("%s fails without a fault: see %s".formatted(test, logOfOne));
					red.add(test);
				}
				else {
					Files.delete(logOfOne);
				}
			}
		}
		return red;
	}

	/** The tests that did not run. JUnit itself fails only if it finds no test at all. */
	private static List<TestMethod> notIn(Path log, Set<TestMethod> tests) throws IOException {
		String text = Files.readString(log);
		return tests.stream().filter((test) -> !text.contains(test.method() + "(")).toList();
	}

	private Map<Fault, Result> plant(List<Fault> faults, Set<TestMethod> red) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(AT_ONCE);
		try {
			AtomicInteger done = new AtomicInteger();
			Map<Fault, Future<Result>> futures = new LinkedHashMap<>();
			for (Fault fault : faults) {
				futures.put(fault, executor.submit(() -> {
					long start = System.nanoTime();
					Result result = red.contains(fault.test())
							? new Result("test was red without the fault", "see " + log(fault.test().toString()))
							: plant(fault);
					say("%d of %d, %s: %s, %.1f s. %s".formatted(done.incrementAndGet(), faults.size(), fault.name(),
							result.text(), (System.nanoTime() - start) / 1e9, result.detail()));
					return result;
				}));
			}
			Map<Fault, Result> results = new LinkedHashMap<>();
			for (Map.Entry<Fault, Future<Result>> future : futures.entrySet()) {
				results.put(future.getKey(), future.getValue().get());
			}
			return results;
		}
		finally {
			executor.shutdownNow();
		}
	}

	private Result plant(Fault fault) throws Exception {
		Path overlay = this.work.resolve("overlays").resolve(fault.name());
		delete(overlay);
		Path log = log(fault.name());
		String failure = apply(fault, overlay, log);
		if (failure != null) {
			return new Result(failure, "see " + log);
		}
		TestMethod test = fault.test();
		int status = test(test.module(), Set.of(test), overlay.resolve("classes"), log, LIMIT_OF_A_RUN);
		if (status == 1) {
			String message = firstFailure(log);
			Files.delete(log);
			delete(overlay);
			return new Result(Result.CAUGHT, message);
		}
		String text = switch (status) {
			case 0 -> "NOT CAUGHT";
			case TIMED_OUT -> "NOT CAUGHT: the test does not end";
			default -> "NOT CAUGHT: the test did not run";
		};
		return new Result(text, "see " + log);
	}

	/**
	 * Writes the changed classes and resources to a folder that comes first on the class
	 * path. Classes that use them are not compiled again.
	 */
	private String apply(Fault fault, Path overlay, Path log) throws IOException {
		Map<String, List<Path>> sources = new LinkedHashMap<>();
		Path classes = Files.createDirectories(overlay.resolve("classes"));
		for (Map.Entry<String, List<Hunk>> change : fault.changes().entrySet()) {
			Path file = this.copy.resolve(change.getKey());
			List<String> lines = Files.exists(file) ? new ArrayList<>(Files.readAllLines(file)) : null;
			for (Hunk hunk : change.getValue()) {
				if (lines == null || !hunk.apply(lines)) {
					Files.writeString(log, "This part does not apply to %s:%n%n%s%n".formatted(file, hunk));
					return "patch does not apply";
				}
			}
			Path patched = overlay.resolve("sources").resolve(change.getKey());
			Path resources = Path.of("src/main/resources");
			Path inModule = Path.of(change.getKey()).subpath(1, Path.of(change.getKey()).getNameCount());
			if (inModule.startsWith(resources)) {
				patched = classes.resolve(resources.relativize(inModule).toString());
			}
			else {
				sources.computeIfAbsent(change.getKey().split("/")[0], (module) -> new ArrayList<>()).add(patched);
			}
			Files.createDirectories(patched.getParent());
			Files.write(patched, lines);
		}
		for (Map.Entry<String, List<Path>> module : sources.entrySet()) {
			if (!compile(module.getKey(), module.getValue(), classes, log)) {
				return "patched code does not compile";
			}
		}
		return null;
	}

	private boolean compile(String module, List<Path> sources, Path classes, Path log) throws IOException {
		var compiler = ToolProvider.getSystemJavaCompiler();
		List<String> options = List.of("-d", classes.toString(), "-cp", classes + pathSeparator() + classPath(module),
				"--release", "17", "-parameters", "-proc:none", "-implicit:none", "-nowarn", "-Xlint:none");
		try (var files = compiler.getStandardFileManager(null, null, null); var out = Files.newBufferedWriter(log)) {
			return compiler.getTask(out, files, null, options, null, files.getJavaFileObjectsFromPaths(sources)).call();
		}
	}

	private int test(String module, Set<TestMethod> tests, Path overlay, Path log, Duration limit) throws Exception {
		List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				// As in the parent's pom.xml. Tests that measure memory need this.
				"-Xms640m", "-Xmx2g", "-Xmn512m", "-XX:MetaspaceSize=256m", "-XX:MarkSweepDeadRatio=0",
				"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dtimingwheel.patience=20",
				"-Dbasedir=" + this.copy.resolve(module), "-Dorg.springframework.boot.logging.LoggingSystem=none", "-cp",
				((overlay != null) ? overlay + pathSeparator() : "") + classPath(module),
				"org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--disable-ansi-colors",
				"--details=tree", "--details-theme=ascii", "--fail-if-no-tests", "--include-classname=.*",
				"--config=junit.jupiter.extensions.autodetection.enabled=true"));
		for (TestMethod test : tests) {
			command.add("--select-class=" + className(test));
			// The test may be in a nested class, also in one that is inherited.
			command.add("--include-methodname=.*#" + test.method());
		}
		return execute(command, this.copy.resolve(module), log, limit);
	}

	private String classPath(String module) {
		return this.classPaths.computeIfAbsent(module, (key) -> {
			Path target = this.copy.resolve(module).resolve("target");
			try {
				return target.resolve("test-classes") + pathSeparator() + target.resolve("classes") + pathSeparator()
						+ Files.readString(target.resolve("planted-faults.classpath")).strip();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		});
	}

	/** The whole name of a test class, of which a fault may name only the end. */
	private String className(TestMethod test) throws IOException {
		Path classes = this.copy.resolve(test.module()).resolve("target/test-classes");
		Path end = Path.of(test.type().replace('.', '/') + ".class");
		try (Stream<Path> files = Files.walk(classes)) {
			List<Path> found = files.filter((file) -> file.endsWith(end)).toList();
			if (found.size() != 1) {
				throw new IllegalStateException("%d test classes have the name of %s".formatted(found.size(), test));
			}
			return classes.relativize(found.get(0)).toString().replaceFirst("\\.class$", "").replaceAll("[/\\\\]", ".");
		}
	}

	private static final int TIMED_OUT = -1;

	private static int execute(List<String> command, Path folder, Path log, Duration limit) throws Exception {
		Process process = new ProcessBuilder(command).directory(folder.toFile())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
			.start();
		process.getOutputStream().close();
		if (process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
			return process.exitValue();
		}
		process.descendants().forEach(ProcessHandle::destroyForcibly);
		process.destroyForcibly().waitFor();
		return TIMED_OUT;
	}

	private static String firstFailure(Path log) throws IOException {
		List<String> lines = Files.readAllLines(log);
		for (int i = 0; i < lines.size(); i++) {
			if (lines.get(i).strip().startsWith("=> ")) {
				String message = lines.subList(i, Math.min(i + 8, lines.size()))
					.stream()
					.map(String::strip)
					.takeWhile((line) -> !line.startsWith("at ") && !line.startsWith("[...]"))
					.collect(Collectors.joining(" "));
				return message.substring(3, Math.min(message.length(), 200));
			}
		}
		return "";
	}

	private void print(Map<Fault, Result> results) throws IOException {
		StringBuilder table = new StringBuilder("| fault | promise | test | result |\n|---|---|---|---|\n");
		results.forEach((fault, result) -> table.append("| %s | %s | `%s` | %s |%n".formatted(fault.name(),
				fault.promise(), fault.test(), result.text())));
		Files.writeString(this.work.resolve("table.md"), table);
		long caught = results.values().stream().filter(Result::caught).count();
		System.out.printf("%n%s%n%d faults, %d caught%n", table, results.size(), caught);
		if (caught < results.size()) {
			System.out.println("The logs are in " + logs());
		}
	}

	private Path logs() {
		return this.work.resolve("logs");
	}

	private Path log(String name) {
		return logs().resolve(name.replaceAll("[^\\w.-]", "_") + ".log");
	}

	private static void delete(Path folder) throws IOException {
		if (Files.exists(folder)) {
			try (Stream<Path> files = Files.walk(folder)) {
				for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
					Files.delete(file);
				}
			}
		}
	}

	private static String pathSeparator() {
		return System.getProperty("path.separator");
	}

	private static void say(String message) {
		System.out.println(message);
	}

	private record Result(String text, String detail) {

		static final String CAUGHT = "caught";

		boolean caught() {
			return this.text.equals(CAUGHT);
		}

	}

	private record TestMethod(String module, String type, String method) {

		@Override
		public String toString() {
			return this.type + "#" + this.method;
		}

	}

	/** A file that holds the promise, the test, and the changes of each file. */
	private record Fault(String name, String promise, TestMethod test, Map<String, List<Hunk>> changes) {

		static Fault read(String name, List<String> lines) {
			String promise = value("Promise: ", name, lines);
			String[] test = value("Test: ", name, lines).split("[ #]+");
			if (test.length != 3) {
				throw new IllegalStateException(name + " needs a line 'Test: module Class#method'");
			}
			Map<String, List<Hunk>> changes = new LinkedHashMap<>();
			List<Hunk> hunks = null;
			Hunk hunk = null;
			for (String line : lines) {
				if (line.startsWith("+++ b/")) {
					hunks = new ArrayList<>();
					changes.put(line.substring("+++ b/".length()).strip(), hunks);
					hunk = null;
				}
				else if (line.startsWith("@@ ") && hunks != null) {
					hunk = new Hunk(Integer.parseInt(line.replaceFirst("@@ -(\\d+).*", "$1")) - 1, new ArrayList<>());
					hunks.add(hunk);
				}
				else if (line.startsWith("--- ") || line.startsWith("diff ")) {
					hunk = null;
				}
				else if (hunk != null && !line.startsWith("\\")) {
					hunk.lines().add(line.isEmpty() ? " " : line);
				}
			}
			if (changes.isEmpty()) {
				throw new IllegalStateException(name + " has no diff");
			}
			return new Fault(name, promise, new TestMethod(test[0], test[1], test[2]), changes);
		}

		private static String value(String key, String name, List<String> lines) {
			return lines.stream()
				.filter((line) -> line.startsWith(key))
				.map((line) -> line.substring(key.length()).strip())
				.findFirst()
				.orElseThrow(() -> new IllegalStateException(name + " has no line '" + key + "'"));
		}

	}

	/** A change at one place, with the lines around it. */
	private record Hunk(int start, List<String> lines) {

		/**
		 * Applies this change at the nearest place that has the same lines, whatever
		 * their indentation. Of the lines around the change, one on each side suffices.
		 */
		boolean apply(List<String> file) {
			int before = 0;
			while (this.lines.get(before).startsWith(" ")) {
				before++;
			}
			int after = 0;
			while (this.lines.get(this.lines.size() - 1 - after).startsWith(" ")) {
				after++;
			}
			for (int dropped = 0; dropped < Math.max(Math.max(before, after), 1); dropped++) {
				int first = Math.min(dropped, Math.max(before - 1, 0));
				int last = this.lines.size() - Math.min(dropped, Math.max(after - 1, 0));
				if (replace(file, this.lines.subList(first, last), this.start + first)) {
					return true;
				}
			}
			return false;
		}

		private static boolean replace(List<String> file, List<String> change, int start) {
			List<String> old = change.stream().filter((line) -> !line.startsWith("+")).map(Hunk::text).toList();
			int place = -1;
			for (int i = 0; i + old.size() <= file.size(); i++) {
				if (matches(file, i, old) && (place < 0 || Math.abs(i - start) < Math.abs(place - start))) {
					place = i;
				}
			}
			if (place < 0) {
				return false;
			}
			List<String> region = file.subList(place, place + old.size());
			List<String> replacement = new ArrayList<>();
			int line = 0;
			for (String changed : change) {
				if (changed.startsWith("+")) {
					replacement.add(text(changed));
				}
				else {
					if (changed.startsWith(" ")) {
						replacement.add(region.get(line));
					}
					line++;
				}
			}
			region.clear();
			file.addAll(place, replacement);
			return true;
		}

		private static boolean matches(List<String> file, int place, List<String> lines) {
			for (int i = 0; i < lines.size(); i++) {
				if (!file.get(place + i).strip().equals(lines.get(i).strip())) {
					return false;
				}
			}
			return true;
		}

		private static String text(String line) {
			return line.substring(1);
		}

		@Override
		public String toString() {
			return String.join(System.lineSeparator(), this.lines);
		}

	}

}
