package io.timingwheel.spring.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.util.MimeType;

/**
 * The files of the page, read once. The page refers to its files by the last segment of
 * its own path, since that works below any context path and base path.
 */
final class ConsoleFiles {

	private static final MimeType HTML = MimeType.valueOf("text/html;charset=UTF-8");

	private static final MimeType CSS = MimeType.valueOf("text/css;charset=UTF-8");

	private static final MimeType SCRIPT = MimeType.valueOf("text/javascript;charset=UTF-8");

	private static final MimeType IMAGE = MimeType.valueOf("image/svg+xml");

	private static final String BASE = "{{base}}";

	private static final Pattern FOR_READERS = Pattern.compile("(?m)^\\t*(/\\*\\*.*| \\*.*|//.*)?\\n|^\\t+");

	private final byte[] page;

	private final Map<String, WebEndpointResponse<byte[]>> files = new HashMap<>();

	/**
	 * Reads the files.
	 */
	ConsoleFiles(String path) {
		String page = read("index.html");
		String base = path.substring(path.lastIndexOf('/') + 1);
		this.page = page.replace(BASE, base).getBytes(StandardCharsets.UTF_8);
		add("console.css", CSS);
		add("icon.svg", IMAGE);
		for (String script : List.of("console.js", "dom.js", "server.js", "charts.js", "wheel.js", "views.js")) {
			add(script, SCRIPT);
		}
	}

	private void add(String name, MimeType type) {
		this.files.put(name, new WebEndpointResponse<>(read(name).getBytes(StandardCharsets.UTF_8), type));
	}

	/**
	 * Reads a file, without the comments and the indentation that only readers of the
	 * source need.
	 */
	private static String read(String name) {
		try (InputStream file = ConsoleFiles.class.getResourceAsStream(name)) {
			if (file == null) {
				throw new IllegalStateException("The file \"" + name + "\" of the console is missing");
			}
			return FOR_READERS.matcher(new String(file.readAllBytes(), StandardCharsets.UTF_8)).replaceAll("");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	WebEndpointResponse<byte[]> page() {
		return new WebEndpointResponse<>(this.page, HTML);
	}

	Set<String> names() {
		return this.files.keySet();
	}

	/**
	 * A file of the page.
	 */
	@Nullable WebEndpointResponse<byte[]> file(String name) {
		return this.files.get(name);
	}

}
