package io.timingwheel.spring.durable.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ClassPathResource;
import org.springframework.util.Assert;

/**
 * Puts the source of a script together. Redis makes all functions of a source anew with
 * each call, so a script has only the parts that it needs. The first lines of a script or
 * a part name these parts, for example {@code -- needs: clock, entries}. The source has
 * each part once, after the parts that it needs itself. Not thread-safe.
 */
final class ScriptSource {

	private static final String NEEDS = "-- needs: ";

	private final Files files;

	/** The texts of the parts by name, in the order of the source. */
	private final Map<String, String> parts = new LinkedHashMap<>();

	private ScriptSource(Files files) {
		this.files = files;
	}

	/**
	 * The source of a script on the class path.
	 * @param name the name of the script
	 */
	static String of(String name) {
		return of(name, ScriptSource::read);
	}

	/**
	 * The source of a script.
	 * @param name the name of the script
	 * @param files gives the texts of the script and of the parts
	 * @throws IllegalStateException if the script or a part does not exist, or if a part
	 * needs itself
	 */
	static String of(String name, Files files) {
		ScriptSource source = new ScriptSource(files);
		String text = files.read(name + ".lua");
		Assert.state(text != null, () -> "There is no script " + name);
		source.addNeeds(List.of(name + ".lua"), text);
		return String.join("", source.parts.values()) + text;
	}

	/**
	 * Adds the parts that a text needs.
	 * @param path the script, and the parts from there to the text
	 */
	private void addNeeds(List<String> path, String text) {
		text.lines()
			.takeWhile((line) -> line.startsWith(NEEDS))
			.flatMap((line) -> List.of(line.substring(NEEDS.length()).split(",\\s*")).stream())
			.forEach((part) -> add(part, path));
	}

	private void add(String part, List<String> path) {
		if (this.parts.containsKey(part)) {
			return;
		}
		Assert.state(!path.contains(part), () -> "The part %s needs itself: %s".formatted(part, path));
		String text = this.files.read("parts/" + part + ".lua");
		Assert.state(text != null,
				() -> "%s needs the part %s, which does not exist".formatted(path.get(path.size() - 1), part));
		List<String> pathToPart = new ArrayList<>(path);
		pathToPart.add(part);
		addNeeds(pathToPart, text);
		this.parts.put(part, text);
	}

	private static @Nullable String read(String path) {
		ClassPathResource resource = new ClassPathResource(path, ScriptSource.class);
		try {
			return resource.exists() ? resource.getContentAsString(StandardCharsets.UTF_8) : null;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The files of scripts and parts.
	 */
	interface Files {

		/**
		 * Reads a file.
		 * @return the text, {@code null} if there is no such file
		 */
		@Nullable String read(String path);

	}

}
