package io.timingwheel.sample;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import java.util.stream.Collectors;

import com.jayway.jsonpath.JsonPath;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

/**
 * The dashboard {@code docs/grafana/timingwheel.json} and the alerts in
 * {@code docs/prometheus} ask for series that this application exports at
 * {@code /actuator/prometheus}, and the alerts fire when their tests say so.
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
			SERIES.matcher(query).results().forEach((series) -> {
				assertThat(exported).as(query).containsKey(series.group(1));
				used.add(series.group(1));
				labels.addAll(exported.get(series.group(1)));
				assertThat(labels).as(query).containsAll(labels(series.group(2)));
			});
			GROUPING.matcher(query)
				.results()
				.forEach((grouping) -> assertThat(labels).as(query).contains(grouping.group(1).split(", ")));
		}
		assertThat(used).hasSizeGreaterThan(18);
	}

	private static List<String> queries() throws IOException {
		List<String> queries = new ArrayList<>();
		ALERT.matcher(Files.readString(Path.of("../docs/prometheus/timingwheel-rules.yml")))
			.results()
			.forEach((alert) -> queries.add(alert.group(1)));
		assertThat(queries).hasSizeGreaterThan(5);
		List<String> ofPanels = JsonPath.parse(new File("../docs/grafana/timingwheel.json"))
			.read("$.panels[*].targets[*].expr");
		queries.addAll(ofPanels);
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
			.returnResult(String.class)
			.getResponseBody();
		output.lines().filter((line) -> !line.startsWith("#")).forEach((line) -> {
			Matcher series = EXPORTED.matcher(line);
			assertThat(series.find()).as(line).isTrue();
			exported.computeIfAbsent(series.group(1), (name) -> new HashSet<>()).addAll(labels(series.group(2)));
		});
		return exported;
	}

	private static Set<String> labels(@Nullable String text) {
		return LABEL.matcher(String.valueOf(text)).results().map((label) -> label.group(1)).collect(Collectors.toSet());
	}

	@Test
	void eachAlertFiresInItsTest() throws Exception {
		Process promtool;
		try {
			promtool = new ProcessBuilder("promtool", "test", "rules", "timingwheel-rules-test.yml")
				.directory(new File("../docs/prometheus"))
				.redirectErrorStream(true)
				.start();
		}
		catch (IOException ex) {
			abort("promtool of Prometheus is not installed: the alerts are not tested");
			return;
		}
		String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(promtool.waitFor()).as(output).isZero();
	}

}
