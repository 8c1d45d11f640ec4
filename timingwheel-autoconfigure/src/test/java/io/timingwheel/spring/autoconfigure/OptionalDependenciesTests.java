package io.timingwheel.spring.autoconfigure;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.ObservedTaskExecution;
import io.timingwheel.spring.actuate.TimingWheelMetrics;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

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
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelActuatorAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(ObservationRegistry.class, ObservationRegistry::create)
		.withPropertyValues("management.endpoints.web.exposure.include=*");

	@ParameterizedTest
	@CsvSource({ "nothing, ''", "org.springframework.boot.actuate, timingWheelEndpoint delayedTasksEndpoint",
			"org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator, timingWheelHealthIndicator",
			"io.micrometer.core.instrument, timingWheelMetrics" })
	void whatNeedsALibraryIsThereOnlyWithTheLibrary(String missing, String absent) {
		this.contextRunner.withClassLoader(new FilteredClassLoader(missing)).run((context) -> {
			assertThat(context).hasSingleBean(TimingWheel.class);
			for (String bean : List.of("timingWheelEndpoint", "delayedTasksEndpoint", "timingWheelHealthIndicator",
					"timingWheelMetrics", "timingWheelObservedTaskExecution")) {
				assertThat(context.containsBean(bean)).as(bean).isEqualTo(!List.of(absent.split(" ")).contains(bean));
			}
		});
	}

	@Test
	void withoutAMeterRegistryThereAreNoMeters() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelAutoConfiguration.class,
					TimingWheelActuatorAutoConfiguration.class))
			.run((context) -> assertThat(context).hasSingleBean(TimingWheel.class)
				.doesNotHaveBean(TimingWheelMetrics.class)
				.doesNotHaveBean(ObservedTaskExecution.class));
	}

	@Test
	void theStarterAloneIsEnoughAndHasNoDurableTasks() throws Exception {
		assertThat(run((jar) -> false)).isEqualTo(Probe.ALL_WORKS);
	}

	@ParameterizedTest
	@Tag("faults")
	@ValueSource(strings = { "spring-tx", "reactor-core", "micrometer-core", "spring-boot-actuator",
			"spring-boot-health", "spring-boot-micrometer", "micrometer-tracing" })
	void eachLibraryMayBeThereWithoutTheOthers(String library) throws Exception {
		assertThat(run((jar) -> jar.startsWith(library))).isEqualTo(Probe.ALL_WORKS);
	}

	/** Runs the probe in a class path of its own. */
	private static Object run(Predicate<String> optional) throws Exception {
		List<URL> classPath = new ArrayList<>();
		for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
			File entry = new File(path);
			if (entry.isDirectory() || REQUIRED.matcher(entry.getName()).matches() || optional.test(entry.getName())) {
				classPath.add(entry.toURI().toURL());
			}
		}
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		try (URLClassLoader classLoader = new URLClassLoader(classPath.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader())) {
			Thread.currentThread().setContextClassLoader(classLoader);
			Class<?> probe = classLoader.loadClass(Probe.class.getName());
			return ((Callable<?>) probe.getConstructor().newInstance()).call();
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
	}

	/** An application that uses all features, with only the libraries of the starter. */
	public static class Probe implements Callable<String> {

		static final String ALL_WORKS = "delayed 5, cancelled 6, timed out in place, timed out later, scheduled";

		@Override
		public String call() throws Exception {
			Resource[] durable = new PathMatchingResourcePatternResolver()
				.getResources("classpath*:io/timingwheel/spring/durable/*.class");
			Assert.state(durable.length == 0, () -> durable[0] + " is on the class path");
			Assert.state(!ClassUtils.isPresent("tools.jackson.core.JsonParser", null), "Jackson is on the class path");
			try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
					Application.class)) {
				Service service = context.getBean(Service.class);
				DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
				String delayed = "delayed " + service.delayed(5).get(1, TimeUnit.MINUTES);
				service.pending(6);
				service.cancel(6);
				String cancelled = tasks.find(TaskId.of("pending", 6)).isEmpty() ? "cancelled 6" : "still pending";
				String scheduled = tasks.schedule(Duration.ZERO, () -> "scheduled").get(1, TimeUnit.MINUTES);
				return String.join(", ", delayed, cancelled, outcome(service::sleep) + " in place",
						outcome(() -> service.never().join()) + " later", scheduled);
			}
		}

		private static String outcome(Callable<String> call) throws Exception {
			try {
				return call.call();
			}
			catch (MethodTimeoutException ex) {
				return "timed out";
			}
			catch (CompletionException ex) {
				return (ex.getCause() instanceof MethodTimeoutException) ? "timed out" : ex.toString();
			}
		}

		@Import(Service.class)
		@EnableAutoConfiguration
		static class Application {

		}

		static class Service {

			@Delayed("1ms")
			CompletableFuture<Long> delayed(long id) {
				return CompletableFuture.completedFuture(id);
			}

			@Delayed(delay = "1h", name = "pending", key = "#id")
			void pending(long id) {
			}

			@CancelDelayed(name = "pending", key = "#id")
			void cancel(long id) {
			}

			@Timeout("10ms")
			String sleep() throws InterruptedException {
				TimeUnit.MINUTES.sleep(1);
				return "never";
			}

			@Timeout("500ms")
			CompletableFuture<String> never() {
				return new CompletableFuture<>();
			}

		}

	}

}
