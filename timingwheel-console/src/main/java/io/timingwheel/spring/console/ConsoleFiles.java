package io.timingwheel.spring.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
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

	private static final MimeType SCRIPT = MimeType.valueOf("text/javascript;charset=UTF-8");

	/** The files beside the page. */
	static final Map<String, MimeType> TYPES = Map.of("console.css", MimeType.valueOf("text/css;charset=UTF-8"),
			"icon.svg", MimeType.valueOf("image/svg+xml"), "console.js", SCRIPT, "dom.js", SCRIPT, "server.js", SCRIPT,
			"charts.js", SCRIPT, "wheel.js", SCRIPT, "views.js", SCRIPT);

	private static final String BASE = "{{base}}";

	private static final Pattern FOR_READERS = Pattern.compile("(?m)^\\t*(/\\*\\*.*| \\*.*|//.*)?\\n|^\\t+");

	private final byte[] page;

	private final Map<String, WebEndpointResponse<byte[]>> files = new HashMap<>();

	ConsoleFiles(String path) {
		String page = read("index.html");
		String base = path.substring(path.lastIndexOf('/') + 1);
		this.page = page.replace(BASE, base).getBytes(StandardCharsets.UTF_8);
		TYPES.forEach((name, type) -> this.files.put(name,
				new WebEndpointResponse<>(read(name).getBytes(StandardCharsets.UTF_8), type)));
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

	@Nullable WebEndpointResponse<byte[]> file(String name) {
		return this.files.get(name);
	}

}
