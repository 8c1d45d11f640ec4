package io.timingwheel.spring.durable.jdbc.autoconfigure;

import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
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

	private static void run(Class<?> source, String... arguments) {
		new SpringApplicationBuilder(source).web(WebApplicationType.NONE).run(arguments).close();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TimingWheelAutoConfiguration.class, TimingWheelJdbcStoreAutoConfiguration.class })
	static class JdbcStore {

	}

}
