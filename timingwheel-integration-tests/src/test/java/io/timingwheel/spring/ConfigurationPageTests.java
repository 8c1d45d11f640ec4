package io.timingwheel.spring;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.support.Approved;
import org.junit.jupiter.api.Test;

/**
 * Writes {@code docs/configuration.md} from the metadata of the modules, and tests that
 * the page is the written one.
 */
class ConfigurationPageTests {

	private static final String PAGE_HEAD = """
			# All properties

			The build writes this page from the configuration metadata that IDEs read, too. A value that makes no sense stops the start, and the
			message names the property. Durations are written as `800ms`, `30s`, `10m`, `1h` or `1d`.
			""";

	/** The beginnings of the names, and their headings, in the order of the page. */
	private static final Map<String, String> SECTIONS = sections();

	private static Map<String, String> sections() {
		Map<String, String> sections = new LinkedHashMap<>();
		sections.put("timingwheel.",
				"""
						## Tasks and the wheel

						Under `timingwheel.tasks.<name>` stands the policy of the tasks of a name: [policies.md](policies.md) lists its properties.
						""");
		sections.put("timingwheel.store.", """
				## Durable tasks

				[durable.md](durable.md) explains them.
				""");
		sections.put("timingwheel.store.jdbc.", """
				## In a database

				[durable.md](durable.md) explains them.
				""");
		sections.put("timingwheel.store.redis.", """
				## In Redis

				[durable-redis.md](durable-redis.md) explains them.
				""");
		sections.put("management.", """
				## Endpoints and health

				[operations.md](operations.md) and [console.md](console.md) explain them.
				""");
		return sections;
	}

	@Test
	void thePageHasAllProperties() throws IOException {
		Map<String, Map<String, Object>> properties = properties();
		List<String> lines = new ArrayList<>(PAGE_HEAD.lines().toList());
		SECTIONS.forEach((prefix, heading) -> {
			lines.add("");
			lines.addAll(heading.lines().toList());
			lines.addAll(List.of("", "| property | default | meaning |", "|---|---|---|"));
			lines.addAll(rows(properties.values(), prefix, false, (property) -> "%s | %s"
				.formatted(code(property.get("defaultValue")), property.get("description"))));
		});
		List<String> gone = rows(properties.values(), "", true,
				(property) -> String.valueOf(((Map<?, ?>) property.get("deprecation")).get("reason")));
		if (!gone.isEmpty()) {
			lines.addAll(List.of("", "## Not there any more", "", "| property | in its place |", "|---|---|"));
			lines.addAll(gone);
		}
		Approved.verify(getClass(), Path.of("..", "docs", "configuration.md"), lines);
	}

	private static Map<String, Map<String, Object>> properties() throws IOException {
		Map<String, Map<String, Object>> properties = new TreeMap<>();
		for (URL file : Collections.list(ConfigurationPageTests.class.getClassLoader()
			.getResources("META-INF/spring-configuration-metadata.json"))) {
			try (InputStream metadata = file.openStream()) {
				for (Map<String, Object> property : JsonPath.parse(metadata)
					.<List<Map<String, Object>>>read("$.properties")) {
					String name = (String) property.get("name");
					if (name
						.matches("timingwheel\\..*|management\\.(endpoint|health)\\.(timingwheel|delayedtasks).*")) {
						properties.put(name, property);
					}
				}
			}
		}
		return properties;
	}

	private static List<String> rows(Collection<Map<String, Object>> properties, String prefix, boolean deprecated,
			Function<Map<String, Object>, String> columns) {
		return properties.stream()
			.filter((property) -> property.containsKey("deprecation") == deprecated)
			.filter((property) -> prefix.isEmpty() || prefix.equals(section((String) property.get("name"))))
			.map((property) -> "| `%s` | %s |".formatted(property.get("name"), columns.apply(property)))
			.toList();
	}

	private static String section(String name) {
		return SECTIONS.keySet()
			.stream()
			.filter(name::startsWith)
			.max(Comparator.comparing(String::length))
			.orElseThrow();
	}

	private static String code(Object value) {
		return (value != null) ? "`" + value + "`" : "";
	}

}
