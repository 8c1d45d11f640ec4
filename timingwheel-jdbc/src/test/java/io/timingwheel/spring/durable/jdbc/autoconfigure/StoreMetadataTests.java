package io.timingwheel.spring.durable.jdbc.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import com.jayway.jsonpath.JsonPath;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/**
 * Tests of the metadata that an editor shows for the properties of durable tasks.
 */
class StoreMetadataTests {

	private final Map<String, Map<String, Object>> properties = read();

	@Test
	void eachPropertyOfTheStoreHasTheDefaultThatIsDocumented() {
		assertThat(defaults()).contains(entry("timingwheel.store.type", "none"),
				entry("timingwheel.store.node-id", null), entry("timingwheel.store.lease", "30s"),
				entry("timingwheel.store.look-ahead", "2s"), entry("timingwheel.store.poll-interval", "1s"),
				entry("timingwheel.store.batch-size", 100), entry("timingwheel.store.max-in-flight", 1000),
				entry("timingwheel.store.max-attempts", 16), entry("timingwheel.store.max-lost-deliveries", 5),
				entry("timingwheel.store.backoff.initial", "1s"), entry("timingwheel.store.backoff.multiplier", 2),
				entry("timingwheel.store.backoff.max", "10m"), entry("timingwheel.store.backoff.jitter", 0.2),
				entry("timingwheel.store.max-payload-size", "64KB"),
				entry("timingwheel.store.jdbc.table-name", "timingwheel_task"),
				entry("timingwheel.store.jdbc.initialize-schema", "embedded"),
				entry("timingwheel.store.redis.namespace", "timingwheel"),
				entry("timingwheel.store.redis.partitions", 16), entry("timingwheel.store.redis.wait-replicas", 0),
				entry("timingwheel.store.redis.wait-timeout", "1s"), entry("timingwheel.store.redis.max-dead", 100000),
				entry("timingwheel.store.dead.retention", null));
	}

	@Test
	void eachDefaultOutsideOfTheClassesOfPropertiesIsTheDefaultInTheCode() {
		TimingWheelJdbcStoreProperties jdbc = new TimingWheelJdbcStoreProperties();
		assertThat(defaults()).contains(entry("timingwheel.store.jdbc.schema", jdbc.getSchema()),
				entry("timingwheel.store.jdbc.platform", jdbc.getPlatform()),
				entry("timingwheel.store.jdbc.continue-on-error", jdbc.isContinueOnError()),
				entry("timingwheel.store.jdbc.initialize-schema", jdbc.getInitializeSchema().name().toLowerCase()));
	}

	private Map<String, Object> defaults() {
		Map<String, Object> defaults = new HashMap<>();
		this.properties.forEach((name, property) -> defaults.put(name, property.get("defaultValue")));
		return defaults;
	}

	/**
	 * Reads the files of all modules.
	 */
	private static Map<String, Map<String, Object>> read() {
		Map<String, Map<String, Object>> properties = new HashMap<>();
		try {
			Resource[] files = new PathMatchingResourcePatternResolver()
				.getResources("classpath*:META-INF/spring-configuration-metadata.json");
			for (Resource file : files) {
				JsonPath.<List<Map<String, Object>>>read(file.getContentAsString(UTF_8), "$.properties[*]")
					.forEach((property) -> properties.put((String) property.get("name"), property));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return properties;
	}

}
