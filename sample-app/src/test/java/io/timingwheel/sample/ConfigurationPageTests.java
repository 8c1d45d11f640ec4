package io.timingwheel.sample;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.support.Approved;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.UrlResource;

/**
 * Writes {@code docs/configuration.md} from the metadata of the modules, and tests that
 * nobody changes a property without saying so. The sample app has all modules.
 */
class ConfigurationPageTests {

	private static final String PAGE_HEAD = """
			# All properties

			The build writes this page from the configuration metadata that IDEs read, too. A value that makes no sense stops the start, and the
			message names the property. Durations are written as `800ms`, `30s`, `10m`, `1h` or `1d`.
			""";

	private final Map<String, Map<String, Object>> properties = new TreeMap<>();

	private final TreeSet<String> facts = new TreeSet<>();

	/** The beginnings of the names, and their headings, in the order of the page. */
	private final Map<String, String> sections = new LinkedHashMap<>();

	ConfigurationPageTests() throws IOException {
		for (URL file : Collections
			.list(getClass().getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
			Map<String, List<Map<String, Object>>> metadata = JsonPath
				.parse(new UrlResource(file).getContentAsString(StandardCharsets.UTF_8))
				.read("$");
			metadata.get("properties").stream().filter(ConfigurationPageTests::isOurs).forEach((property) -> {
				this.properties.put((String) property.get("name"), property);
				this.facts.add("%s: %s%s%s; %s".formatted(property.get("name"), property.get("type"),
						value(property, " = ", "defaultValue"), value(property, " deprecated ", "deprecation"),
						property.get("description")));
			});
			metadata.getOrDefault("hints", List.of())
				.stream()
				.filter(ConfigurationPageTests::isOurs)
				.forEach((hint) -> this.facts.add("%s hints:%s%s".formatted(hint.get("name"),
						value(hint, " ", "values"), value(hint, " ", "providers"))));
		}
	}

	private static boolean isOurs(Map<String, Object> item) {
		return ((String) item.get("name"))
			.matches("timingwheel\\..*|management\\.[a-z]+\\.(timingwheel|delayedtasks).*");
	}

	private static String value(Map<String, Object> item, String mark, String field) {
		return item.containsKey(field) ? mark + item.get(field) : "";
	}

	@Test
	void thePropertiesTheirTypesAndTheirHintsAreTheApprovedOnes() {
		Approved.verify(getClass(), "configuration-metadata", List.copyOf(this.facts));
	}

	@Test
	void thePageHasAllProperties() {
		this.sections.put("timingwheel.",
				"""
						## Tasks and the wheel

						Under `timingwheel.tasks.<name>` stands the policy of the tasks of a name: [policies.md](policies.md) lists its properties.
						""");
		this.sections.put("timingwheel.store.", """
				## Durable tasks

				[durable.md](durable.md) explains them.
				""");
		this.sections.put("timingwheel.store.jdbc.", """
				## In a database

				[durable.md](durable.md) explains them.
				""");
		this.sections.put("timingwheel.store.redis.", """
				## In Redis

				[durable-redis.md](durable-redis.md) explains them.
				""");
		this.sections.put("management.", """
				## Endpoints and health

				[operations.md](operations.md) and [console.md](console.md) explain them.
				""");
		List<String> lines = new ArrayList<>(PAGE_HEAD.lines().toList());
		this.sections.forEach((prefix, heading) -> {
			lines.add("");
			lines.addAll(heading.lines().toList());
			lines.addAll(List.of("", "| property | default | meaning |", "|---|---|---|"));
			lines.addAll(rows(prefix, false,
					(property) -> (property.containsKey("defaultValue") ? "`" + property.get("defaultValue") + "`" : "")
							+ " | " + property.get("description")));
		});
		lines.addAll(List.of("", "## Not there any more", "", "| property | in its place |", "|---|---|"));
		lines.addAll(
				rows("", true, (property) -> String.valueOf(((Map<?, ?>) property.get("deprecation")).get("reason"))));
		Approved.verify(getClass(), Path.of("..", "docs", "configuration.md"), lines);
	}

	private List<String> rows(String prefix, boolean deprecated, Function<Map<String, Object>, String> columns) {
		List<String> rows = new ArrayList<>();
		this.properties.forEach((name, property) -> {
			// The last section whose beginning a name has is the narrowest.
			String section = this.sections.keySet()
				.stream()
				.filter(name::startsWith)
				.reduce("", (wide, narrow) -> narrow);
			if (property.containsKey("deprecation") == deprecated && (prefix.isEmpty() || prefix.equals(section))) {
				rows.add("| `%s` | %s |".formatted(name, columns.apply(property)));
			}
		});
		return rows;
	}

}
