package io.timingwheel.sample;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The dashboard {@code docs/grafana/timingwheel.json} and the alerts in
 * {@code docs/prometheus} ask for series that this application exports at
 * {@code /actuator/prometheus}.
 */
@DurableEndToEndTest
class DashboardTests {

	private static final Pattern SERIES = Pattern.compile("(timingwheel_[a-z_]+)(?:\\{([^}]*)})?");

	private static final Pattern EXPORTED = Pattern.compile("^([a-zA-Z_][a-zA-Z0-9_]*)(?:\\{(.*)})? ");

	private static final Pattern LABEL = Pattern.compile("([a-z_]+)=~?\"");

	private static final Pattern GROUPING = Pattern.compile("by \\(([a-z, ]+)\\)");

	private static final Pattern ALERT = Pattern.compile("expr: (.*)");

	/** What Prometheus adds to each series. */
	private static final Set<String> TARGET_LABELS = Set.of("instance", "job");

	private final JsonNode dashboard = new JsonMapper().readTree(new File("../docs/grafana/timingwheel.json"));

	@Autowired
	private RestTestClient http;

	@Test
	void eachQueryReadsSeriesThatTheApplicationExports() throws IOException {
		Map<String, Set<String>> exported = exported();
		Set<String> used = new HashSet<>();
		List<String> queries = queries();
		assertThat(queries).hasSizeGreaterThan(20);
		for (String query : queries) {
			Set<String> labels = new HashSet<>(TARGET_LABELS);
			Matcher series = SERIES.matcher(query);
			while (series.find()) {
				assertThat(exported).as(query).containsKey(series.group(1));
				used.add(series.group(1));
				labels.addAll(exported.get(series.group(1)));
				Matcher label = LABEL.matcher(String.valueOf(series.group(2)));
				while (label.find()) {
					assertThat(labels).as(query).contains(label.group(1));
				}
			}
			Matcher grouping = GROUPING.matcher(query);
			while (grouping.find()) {
				assertThat(labels).as(query).contains(grouping.group(1).split(", "));
			}
		}
		assertThat(used).hasSizeGreaterThan(18);
	}

	private List<String> queries() throws IOException {
		List<String> queries = new ArrayList<>();
		Matcher alert = ALERT.matcher(Files.readString(Path.of("../docs/prometheus/timingwheel-rules.yml")));
		while (alert.find()) {
			queries.add(alert.group(1));
		}
		assertThat(queries).hasSizeGreaterThan(5);
		this.dashboard.get("panels")
			.forEach((panel) -> panel.path("targets").forEach((target) -> queries.add(target.get("expr").asString())));
		return queries;
	}

	/**
	 * The names of the series that Prometheus reads from the application, with their
	 * labels.
	 */
	private Map<String, Set<String>> exported() {
		Map<String, Set<String>> exported = new HashMap<>();
		String output = this.http.get()
			.uri("/actuator/prometheus")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody();
		assertThat(output).isNotNull();
		output.lines().filter((line) -> !line.startsWith("#")).forEach((line) -> {
			Matcher series = EXPORTED.matcher(line);
			assertThat(series.find()).as(line).isTrue();
			Set<String> labels = exported.computeIfAbsent(series.group(1), (name) -> new HashSet<>());
			Matcher label = LABEL.matcher(String.valueOf(series.group(2)));
			while (label.find()) {
				labels.add(label.group(1));
			}
		});
		return exported;
	}

}
