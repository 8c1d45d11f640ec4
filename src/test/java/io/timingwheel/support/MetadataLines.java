package io.timingwheel.support;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Configuration metadata as lines for {@link Approved}: one line for each property and
 * each hint.
 */
public final class MetadataLines {

	/** The metadata of the module of a test, seen from the folder of the module. */
	public static final File FILE = new File("target/classes/META-INF/spring-configuration-metadata.json");

	private MetadataLines() {
	}

	/** Writes the content of the file as lines, sorted by the names of the properties. */
	public static List<String> of(Map<String, List<Map<String, Object>>> metadata) {
		TreeSet<String> lines = new TreeSet<>();
		for (Map<String, Object> property : metadata.get("properties")) {
			String value = property.containsKey("defaultValue") ? " = " + property.get("defaultValue") : "";
			String deprecation = property.containsKey("deprecation") ? " deprecated " + property.get("deprecation")
					: "";
			lines.add("%s: %s%s%s; %s".formatted(property.get("name"), property.get("type"), value, deprecation,
					property.get("description")));
		}
		for (Map<String, Object> hint : metadata.get("hints")) {
			lines.add("%s hints: %s %s".formatted(hint.get("name"), values(hint.get("values")),
					values(hint.get("providers"))));
		}
		return new ArrayList<>(lines);
	}

	private static List<String> values(Object values) {
		List<String> texts = new ArrayList<>();
		if (values instanceof List<?> list) {
			list.forEach((value) -> texts.add(JsonLines.of(value, (path, any) -> null).toString()));
		}
		return texts;
	}

}
