package io.timingwheel.spring.faults;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.util.FileSystemUtils;

/**
 * The class path of the nodes, and an archive of the classes that a node loads (class
 * data sharing). With the archive a node starts with about half of the work. Such an
 * archive is only for class paths without folders, so the folders become jars. All JVMs
 * that run tests share these jars and archives, until a file of the class path changes.
 */
final class NodeClasses {

	private static final Path NODES = Path.of("target", "nodes").toAbsolutePath();

	private final List<String> options;

	private final Class<?> application;

	private NodeClasses(List<String> options, Class<?> application) {
		this.options = options;
		this.application = application;
	}

	/**
	 * A class path without an archive.
	 */
	static NodeClasses of(List<Path> classPath, Class<?> application) {
		return new NodeClasses(List.of("-cp", join(classPath)), application);
	}

	/**
	 * The present class path, with an archive. If there is no archive, this method starts
	 * a node that writes the archive when it ends.
	 * @param name the name of the archive
	 * @param properties the properties of this node
	 */
	static NodeClasses ofThisJvm(String name, List<String> properties) throws IOException {
		Path all = Files.createDirectories(NODES.resolve("classes"));
		try (FileChannel file = FileChannel.open(NODES.resolve("lock"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE); FileLock lock = file.lock()) {
			Path folder = all.resolve(fingerprint());
			if (!Files.exists(folder)) {
				FileSystemUtils.deleteRecursively(all);
				Files.createDirectories(folder);
			}
			NodeClasses classes = of(classPath(folder), NodeApplication.class);
			Path archive = folder.resolve(name + ".jsa");
			if (!Files.exists(archive)) {
				NodeProcess node = NodeProcess.start(classes, "archive", List.of("-XX:ArchiveClassesAtExit=" + archive),
						properties);
				node.awaitReady().endInput();
				node.awaitEnd();
			}
			return Files.exists(archive) ? classes.with("-XX:SharedArchiveFile=" + archive) : classes;
		}
	}

	/**
	 * A text that changes with the files of the class path, and with the JVM.
	 */
	private static String fingerprint() throws IOException {
		List<Object> seen = new ArrayList<>(List.of(System.getProperty("java.home")));
		for (Path entry : entries(System.getProperty("java.class.path")).toList()) {
			try (Stream<Path> files = Files.walk(entry)) {
				for (Path file : files.sorted().toList()) {
					seen.add(file.toString());
					seen.add(Files.size(file));
					seen.add(Files.getLastModifiedTime(file).toMillis());
				}
			}
		}
		return Integer.toHexString(seen.hashCode());
	}

	private static List<Path> classPath(Path folder) throws IOException {
		List<Path> classPath = new ArrayList<>();
		for (Path entry : entries(System.getProperty("java.class.path")).toList()) {
			if (Files.isDirectory(entry)) {
				Path jar = folder.resolve(classPath.size() + ".jar");
				if (!Files.exists(jar)) {
					Files.move(jar(entry), jar);
				}
				classPath.add(jar);
			}
			else {
				classPath.add(entry);
			}
		}
		return classPath;
	}

	static Stream<Path> entries(String classPath) {
		return Stream.of(classPath.split(File.pathSeparator)).map(Path::of).filter(Files::exists);
	}

	static String join(List<Path> classPath) {
		return classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
	}

	private static Path jar(Path folder) throws IOException {
		Path jar = temporary("classes", ".jar");
		try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
				Stream<Path> files = Files.walk(folder)) {
			for (Path file : files.filter(Files::isRegularFile).toList()) {
				out.putNextEntry(new JarEntry(folder.relativize(file).toString().replace(File.separatorChar, '/')));
				Files.copy(file, (OutputStream) out);
				out.closeEntry();
			}
		}
		return jar;
	}

	private NodeClasses with(String option) {
		return new NodeClasses(Stream.concat(this.options.stream(), Stream.of(option)).toList(), this.application);
	}

	/**
	 * The same classes, for nodes that run another application.
	 */
	NodeClasses running(Class<?> other) {
		return new NodeClasses(this.options, other);
	}

	/**
	 * Creates a file beside the logs of the nodes, which the end of this JVM deletes.
	 */
	static Path temporary(String prefix, String suffix) throws IOException {
		Path file = Files.createTempFile(Files.createDirectories(NODES), prefix + "-", suffix);
		file.toFile().deleteOnExit();
		return file;
	}

	/**
	 * The options of a JVM that runs a node.
	 */
	List<String> options() {
		return this.options;
	}

	/**
	 * The class with the main method.
	 */
	String application() {
		return this.application.getName();
	}

}
