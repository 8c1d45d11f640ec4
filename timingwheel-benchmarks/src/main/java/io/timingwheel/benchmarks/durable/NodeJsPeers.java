package io.timingwheel.benchmarks.durable;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

/**
 * The peers that are written for Node.js. npm installs them, in the versions of a lock
 * file, into a folder that is deleted at the end. Without Node.js, npm or a network the
 * measurements go on without these peers, and say so.
 */
final class NodeJsPeers {

	private static final List<String> FILES = List.of("package.json", "package-lock.json", "peer.js",
			"graphile-worker.js", "bullmq.js");

	private static final long PATIENCE_MINUTES = 3;

	private static @Nullable Path folder;

	private static @Nullable String problem;

	private NodeJsPeers() {
	}

	/** Whether the peers are installed. The first call installs them. */
	static synchronized boolean areInstalled() {
		if (folder == null && problem == null) {
			try {
				folder = install();
			}
			catch (IOException ex) {
				problem = ex.getMessage();
				System.err.println("SKIPPED graphile-worker and BullMQ: " + problem);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				problem = "interrupted";
			}
		}
		return folder != null;
	}

	private static Path install() throws IOException, InterruptedException {
		Path target = Files.createTempDirectory("timingwheel-peers");
		Runtime.getRuntime().addShutdownHook(new Thread(() -> FileSystemUtils.deleteRecursively(target.toFile())));
		for (String file : FILES) {
			try (InputStream content = NodeJsPeers.class.getResourceAsStream("node-peers/" + file)) {
				Files.copy(Objects.requireNonNull(content, file), target.resolve(file));
			}
		}
		run(target, "node", "--version");
		run(target, "npm", "install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund");
		return target;
	}

	private static void run(Path directory, String... command) throws IOException, InterruptedException {
		String text = String.join(" ", command);
		File output = directory.resolve("output.txt").toFile();
		Process process;
		try {
			process = new ProcessBuilder(command).directory(directory.toFile())
				.redirectErrorStream(true)
				.redirectOutput(output)
				.start();
		}
		catch (IOException ex) {
			throw new IOException("'%s' could not be started (%s)".formatted(text, ex.getMessage()), ex);
		}
		if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
			process.destroyForcibly();
			throw new IOException("'%s' took longer than %d minutes".formatted(text, PATIENCE_MINUTES));
		}
		if (process.exitValue() != 0) {
			throw new IOException("'%s' failed:%n%s".formatted(text, Files.readString(output.toPath())));
		}
	}

	/**
	 * The command that starts a node.
	 * @param script the name of its file, without the extension
	 * @param url the address of the server
	 * @param fast whether to use its settings for throughput
	 */
	static synchronized List<String> command(String script, String url, boolean fast) {
		List<String> command = new ArrayList<>();
		command.add("node");
		command.add(Objects.requireNonNull(folder, "not installed").resolve("peer.js").toString());
		command.add(script);
		command.add(address(url));
		if (fast) {
			command.add("fast");
		}
		return command;
	}

	/**
	 * The address for Node.js: {@code postgres://user@host:port/database} for an address
	 * of JDBC.
	 */
	static String address(String url) {
		String prefix = "jdbc:postgresql://";
		if (!url.startsWith(prefix)) {
			return url;
		}
		int query = url.indexOf('?');
		return "postgres://postgres@" + url.substring(prefix.length(), (query < 0) ? url.length() : query);
	}

}
