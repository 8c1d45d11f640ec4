package io.timingwheel.spring.durable.jdbc.autoconfigure;

import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests of the messages that a user reads when the application does not start.
 */
@ExtendWith(OutputCaptureExtension.class)
class StoreStartupFailureTests {

	@Test
	void aStoreThatCannotBeUsedIsNamedWithItsOriginAndARemedy(CapturedOutput output) {
		assertThatException().isThrownBy(() -> run(JdbcStore.class, "--timingwheel.store.type=jdbc"));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Durable tasks cannot be stored")
			.contains("There is no DataSource for the JDBC store.")
			.contains("The property 'timingwheel.store.type' is 'jdbc' (originating from ")
			.contains("commandLineArgs")
			.contains("Set spring.datasource.url, or declare a DataSource bean.")
			.doesNotContain("\tat ");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			lease               | 999ms | at least 1s: leases are renewed after a third of this time
			poll-interval       | 0     | at least 1ms
			look-ahead          | -1s   | must not be negative
			batch-size          | 0     | at least 1
			max-in-flight       | 0     | at least 1
			max-attempts        | 0     | at least 1
			max-lost-deliveries | 0     | at least 1
			max-payload-size    | 0     | must be positive, such as 64KB
			node-id             | a b   | at most 64 printable ASCII characters and no spaces
			backoff.initial     | -1s   | must not be negative
			backoff.multiplier  | 0.9   | at least 1
			backoff.multiplier  | NaN   | at least 1
			backoff.max         | 10ms  | must not be shorter than backoff.initial
			backoff.jitter      | 1.1   | from 0 to 1
			dead.retention      | 0s    | at least 1ms
			dead.retention      | -7d   | at least 1ms
			""")
	void aValueOfTheStoreThatMakesNoSenseIsNamedWithItsPropertyAndARemedy(String property, String value, String remedy,
			CapturedOutput output) {
		String name = "timingwheel.store." + property;
		assertThatException().isThrownBy(() -> run(OwnStore.class, "--" + name + "=" + value));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.containsPattern("Invalid value '.+' for configuration property '%s'".formatted(name))
			.contains("commandLineArgs")
			.contains(remedy)
			.doesNotContain("\tat ");
	}

	private static void run(Class<?> source, String... arguments) {
		new SpringApplicationBuilder(source).web(WebApplicationType.NONE).run(arguments).close();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TimingWheelAutoConfiguration.class, TimingWheelJdbcStoreAutoConfiguration.class })
	static class JdbcStore {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TimingWheelAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class })
	static class OwnStore {

		@Bean
		MemoryStore store() {
			return new MemoryStore();
		}

	}

}
