package io.timingwheel.test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("measuring")
class StartTimeTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TimingWheelAutoConfiguration.class));

	@Test
	void aContextWithVirtualTimeStartsAboutAsFastAsOneWithout() {
		ApplicationContextRunner virtual = this.runner
			.withConfiguration(AutoConfigurations.of(VirtualTimeAutoConfiguration.class));
		compare("a small context", 15, () -> start(this.runner), () -> start(virtual));
	}

	@Test
	void anApplicationWithAStoreStartsAboutAsFastAsOneWithout() {
		compare("an application with a store", 3, () -> start(Real.class), () -> start(Virtual.class));
	}

	private static void start(ApplicationContextRunner runner) {
		runner.run((context) -> assertThat(context).hasNotFailed());
	}

	private static void start(Class<?> application) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(application)
			.web(WebApplicationType.NONE)
			.properties("timingwheel.store.type=jdbc", "spring.datasource.generate-unique-name=true", "server.port=0",
					"spring.main.banner-mode=off", "logging.level.root=warn")
			.run()) {
			assertThat(context.getBean(DataSource.class)).isNotNull();
		}
	}

	/**
	 * Starts and stops both in turns. Other work on the machine delays some of the
	 * starts, so the shortest ones are compared, of more starts if necessary.
	 */
	private static void compare(String what, int starts, Runnable real, Runnable virtual) {
		List<Long> realTimes = new ArrayList<>();
		List<Long> virtualTimes = new ArrayList<>();
		real.run();
		virtual.run();
		for (int i = 0; i < starts || (i < 5 * starts && virtualTimes.get(0) >= 3 * realTimes.get(0)); i++) {
			realTimes.add(micros(real));
			virtualTimes.add(micros(virtual));
			Collections.sort(realTimes);
			Collections.sort(virtualTimes);
		}
		System.out.println("Start and stop of %s: median %d us, shortest %d us; with virtual time %d us, %d us"
			.formatted(what, realTimes.get(starts / 2), realTimes.get(0), virtualTimes.get(starts / 2),
					virtualTimes.get(0)));
		assertThat(virtualTimes.get(0)).isLessThan(3 * realTimes.get(0));
	}

	private static long micros(Runnable action) {
		long start = System.nanoTime();
		action.run();
		return TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Real {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@ImportAutoConfiguration(VirtualTimeAutoConfiguration.class)
	static class Virtual {

	}

}
