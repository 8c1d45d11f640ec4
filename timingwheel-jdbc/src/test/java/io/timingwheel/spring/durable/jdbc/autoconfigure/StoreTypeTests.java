package io.timingwheel.spring.durable.jdbc.autoconfigure;

import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The switches take what Spring Boot's booleans take. Any other value stops the start.
 */
class StoreTypeTests {

	@ParameterizedTest
	@ValueSource(strings = { "jdbc", "JDBC" })
	void theStoreIsThereForEverySpellingOfItsType(String value) {
		try (ConfigurableApplicationContext context = run(WithDataSource.class, "timingwheel.store.type", value)) {
			assertThat(context.containsBean("timingWheelDelayedTaskStore")).isTrue();
		}
	}

	private static ConfigurableApplicationContext run(Class<?> source, String property, String value) {
		return new SpringApplicationBuilder(Application.class, source).web(WebApplicationType.NONE)
			.run("--" + property + "=" + value);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, TimingWheelJdbcStoreAutoConfiguration.class })
	static class WithDataSource {

	}

}
