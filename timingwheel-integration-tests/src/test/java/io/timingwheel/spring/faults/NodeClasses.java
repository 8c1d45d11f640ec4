package io.timingwheel.spring.faults;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The class path of the nodes, and an archive of the classes that a node loads (class
 * data sharing). With the archive a node starts with about half of the work. Such an
 * archive is only for class paths without folders.
 */
final class NodeClasses {

	private final List<String> options;

	private NodeClasses(List<String> options) {
		this.options = options;
	}

	/**
	 * The present class path, without an archive.
	 */
	static NodeClasses ofThisJvm() throws IOException {
		List<String> entries = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			Path path = Path.of(entry);
			entries.add(Files.isDirectory(path) ? jar(path).toString() : entry);
		}
		return new NodeClasses(List.of("-cp", String.join(File.pathSeparator, entries)));
	}

	private static Path jar(Path folder) throws IOException {
		Path jar = temporary("classes", ".jar");
		try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
				Stream<Path> files = Files.walk(folder)) {
			for (Path file : files.filter(Files::isRegularFile).collect(Collectors.toList())) {
				out.putNextEntry(new JarEntry(folder.relativize(file).toString().replace(File.separatorChar, '/')));
				Files.copy(file, (OutputStream) out);
				out.closeEntry();
			}
		}
		return jar;
	}

	/**
	 * Starts a node that writes the archive when it ends.
	 * @return these classes with the archive
	 */
	NodeClasses archive(List<String> properties) throws IOException {
		Path archive = temporary("classes", ".jsa");
		Files.delete(archive);
		NodeProcess node = NodeProcess.start(this, "archive", List.of("-XX:ArchiveClassesAtExit=" + archive),
				properties);
		node.awaitReady().endInput();
		node.awaitEnd();
		return Files.exists(archive) ? with("-XX:SharedArchiveFile=" + archive) : this;
	}

	private NodeClasses with(String option) {
		return new NodeClasses(Stream.concat(this.options.stream(), Stream.of(option)).toList());
	}

	/**
	 * Creates a file beside the logs of the nodes, which the end of this JVM deletes.
	 */
	static Path temporary(String prefix, String suffix) throws IOException {
		Path file = Files.createTempFile(Files.createDirectories(Path.of("target", "nodes")), prefix + "-", suffix);
		file.toFile().deleteOnExit();
		return file.toAbsolutePath();
	}

	/**
	 * The options of a JVM that runs a node.
	 */
	List<String> options() {
		return this.options;
	}

}
