package io.timingwheel.spring.autoconfigure;

import java.io.File;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.ObservedTaskExecution;
import io.timingwheel.spring.actuate.TimingWheelMetrics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of the libraries that an application may omit. Some tests load the classes of
 * timingwheel again, on a class path without these libraries.
 */
class OptionalDependenciesTests {

	/** The libraries that the starter brings. */
	private static final Pattern REQUIRED = Pattern.compile(
			"(spring-(core|beans|context|aop|expression)|spring-boot|spring-boot-autoconfigure|commons-logging|jspecify"
					+ "|micrometer-(commons|observation)|timingwheel-(core|spring))-\\d.*\\.jar");

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class,
						TimingWheelEndpointAutoConfiguration.class, TimingWheelHealthContributorAutoConfiguration.class,
						TimingWheelMetricsAutoConfiguration.class, TimingWheelObservationAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(ObservationRegistry.class, ObservationRegistry::create)
		.withPropertyValues("management.endpoints.web.exposure.include=*");

	@ParameterizedTest
	@CsvSource({ "nothing, ''", "org.springframework.boot.actuate, timingWheelEndpoint delayedTasksEndpoint",
			"org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator, timingWheelHealthIndicator",
			"io.micrometer.core.instrument, timingWheelMetrics timingWheelTimeoutMetrics" })
	void whatNeedsALibraryIsThereOnlyWithTheLibrary(String missing, String absent) {
		this.contextRunner.withClassLoader(new FilteredClassLoader(missing)).run((context) -> {
			assertThat(context).hasSingleBean(TimingWheel.class);
			for (String bean : List.of("timingWheelEndpoint", "delayedTasksEndpoint", "timingWheelHealthIndicator",
					"timingWheelMetrics", "timingWheelTimeoutMetrics", "timingWheelObservedTaskExecution")) {
				assertThat(context.containsBean(bean)).as(bean).isEqualTo(!List.of(absent.split(" ")).contains(bean));
			}
		});
	}

	@Test
	void withoutAMeterRegistryThereAreNoMeters() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelAutoConfiguration.class,
					TimingWheelMetricsAutoConfiguration.class, TimingWheelObservationAutoConfiguration.class))
			.run((context) -> assertThat(context).hasSingleBean(TimingWheel.class)
				.doesNotHaveBean(TimingWheelMetrics.class)
				.doesNotHaveBean(ObservedTaskExecution.class));
	}

	@Test
	void theStarterAloneIsEnoughAndHasNoDurableTasks() throws Exception {
		assertThat(run((jar) -> false)).isEqualTo(OptionalDependenciesProbe.ALL_WORKS);
	}

	@ParameterizedTest
	@ValueSource(strings = { "spring-tx", "reactor-core", "micrometer-core", "spring-boot-actuator",
			"spring-boot-health", "spring-boot-micrometer", "micrometer-tracing" })
	void eachLibraryMayBeThereWithoutTheOthers(String library) throws Exception {
		assertThat(run((jar) -> jar.startsWith(library))).isEqualTo(OptionalDependenciesProbe.ALL_WORKS);
	}

	/**
	 * Runs the probe in a class path of its own.
	 */
	private static Object run(Predicate<String> optional) throws Exception {
		URL[] classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.map(File::new)
			.filter((entry) -> entry.isDirectory() || REQUIRED.matcher(entry.getName()).matches()
					|| optional.test(entry.getName()))
			.map(OptionalDependenciesTests::toUrl)
			.toArray(URL[]::new);
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		try (URLClassLoader classLoader = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
			Thread.currentThread().setContextClassLoader(classLoader);
			Class<?> probe = classLoader.loadClass(OptionalDependenciesProbe.class.getName());
			return ((Callable<?>) probe.getConstructor().newInstance()).call();
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
	}

	private static URL toUrl(File file) {
		try {
			return file.toURI().toURL();
		}
		catch (MalformedURLException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
