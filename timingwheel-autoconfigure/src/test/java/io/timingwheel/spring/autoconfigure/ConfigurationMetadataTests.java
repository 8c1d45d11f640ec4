package io.timingwheel.spring.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.spring.aop.timeout.TimeoutOverrides;
import org.junit.jupiter.api.Test;

import org.springframework.util.ClassUtils;
import org.springframework.util.StreamUtils;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

/**
 * Tests of the metadata that an editor shows for the properties.
 */
class ConfigurationMetadataTests {

	private final String metadata = read();

	private final Map<String, Map<String, Object>> properties = JsonPath
		.<List<Map<String, Object>>>read(this.metadata, "$.properties[*]")
		.stream()
		.collect(Collectors.toMap((property) -> (String) property.get("name"), Function.identity()));

	@Test
	void eachPropertyIsDescribedInASentence() {
		assertThat(this.properties)
			.allSatisfy((name, property) -> assertThat((String) property.get("description")).as(name).endsWith("."));
	}

	@Test
	void eachPropertyHasTheDefaultThatIsDocumented() {
		assertThat(defaults()).contains(entry("timingwheel.enabled", true), entry("timingwheel.tick", "1ms"),
				entry("timingwheel.max-pending", null), entry("timingwheel.shutdown.pending", "cancel"),
				entry("timingwheel.shutdown.await-termination-period", "30s"),
				entry("timingwheel.task-scheduler.enabled", false), entry("timingwheel.tasks", null),
				entry("timingwheel.timeout.order", TimeoutOverrides.DEFAULT_ORDER),
				entry("timingwheel.timeout.limits", null), entry("timingwheel.timeout.problem-details", true),
				entry("timingwheel.health.max-lag", "1s"), entry("management.health.timingwheel.enabled", true),
				entry("management.endpoint.timingwheel.access", "unrestricted"),
				entry("management.endpoint.delayedtasks.access", "read_only"));
	}

	@Test
	void eachTypeOfAPropertyIsAClass() {
		assertThat(this.properties)
			.allSatisfy((name, property) -> assertThat(((String) property.get("type")).split("[<,>]+")).as(name)
				.allMatch((type) -> ClassUtils.isPresent(type, null)));
	}

	@Test
	void theSettingsOfAPolicyAreThoseOfItsClass() {
		assertThat(this.properties.get("timingwheel.tasks")).containsEntry("type",
				"java.util.Map<java.lang.String," + TimingWheelTaskProperties.class.getName() + ">");
	}

	@Test
	void eachHintIsForAProperty() {
		List<String> hinted = JsonPath.read(this.metadata, "$.hints[*].name");
		assertThat(hinted).contains("timingwheel.tick").isSubsetOf(this.properties.keySet());
	}

	@Test
	void eachPropertyThatIsGoneIsAnErrorThatNamesWhatReplacesIt() {
		assertThat(List.of("timingwheel.wheel-size", "timingwheel.shards", "timingwheel.observations.enabled",
				"timingwheel.metrics.max-names"))
			.allSatisfy((name) -> assertThat(this.properties.get(name)).extracting("deprecation", MAP)
				.containsEntry("level", "error")
				.containsAnyOf(entry("replacement", "management.observations.enable.timingwheel.task.execution"),
						entry("reason", "A TimingWheelBuilderCustomizer bean sets it."),
						entry("reason", "At most 100 names have meters of their own.")));
	}

	private Map<String, Object> defaults() {
		Map<String, Object> defaults = new HashMap<>();
		this.properties.forEach((name, property) -> defaults.put(name, property.get("defaultValue")));
		return defaults;
	}

	/**
	 * Reads the file of this module. Other modules have files of the same name.
	 */
	private static String read() {
		URI classes = URI
			.create(TimingWheelProperties.class.getProtectionDomain().getCodeSource().getLocation().toString());
		try (InputStream input = classes.resolve("META-INF/spring-configuration-metadata.json").toURL().openStream()) {
			return StreamUtils.copyToString(input, UTF_8);
		}
		catch (IOException ex) {
			throw new IllegalStateException("The annotation processor has not run", ex);
		}
	}

}
