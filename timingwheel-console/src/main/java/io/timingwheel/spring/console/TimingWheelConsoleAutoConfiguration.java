package io.timingwheel.spring.console;

import java.util.List;
import java.util.Set;

import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.aop.internal.delayed.TaskMethodRegistry;
import io.timingwheel.spring.autoconfigure.TimingWheelEndpointAutoConfiguration;
import io.timingwheel.spring.console.LiveFigures.WheelFigures;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.PathMapper;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of the console.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TimingWheelEndpointAutoConfiguration.class,
		afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnBean(DelayedTaskRegistry.class)
@ConditionalOnAvailableEndpoint(endpoint = TimingWheelConsoleEndpoint.class, exposure = EndpointExposure.WEB)
@ImportRuntimeHints(TimingWheelConsoleAutoConfiguration.FileHints.class)
public final class TimingWheelConsoleAutoConfiguration {

	private static final EndpointId ID = EndpointId.of(TimingWheelConsoleEndpoint.ID);

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	TimingWheelConsoleEndpoint timingWheelConsoleEndpoint(TimingWheel wheel, DelayedTaskRegistry tasks,
			ObjectProvider<DelayedTasksEndpoint> exposed, TaskPolicies policies,
			ObjectProvider<StoredTasks> storedTasks, ObjectProvider<PathMapper> pathMappers,
			ObjectProvider<ServletCsrfTokenHeader> csrfToken, ObjectProvider<MeteredLateness> lateness,
			ObjectProvider<TaskMethodRegistry> recurring, EndpointAccessResolver access, Environment environment) {
		StoredTasks stored = storedTasks.getIfAvailable();
		DelayedTasksEndpoint endpoint = exposed.getIfAvailable(() -> endpoint(tasks, stored, Binder.get(environment)));
		boolean acts = access.accessFor(ID, Access.READ_ONLY) == Access.UNRESTRICTED;
		return new TimingWheelConsoleEndpoint(new ConsoleFiles(path(pathMappers)),
				new ConsoleReader(() -> WheelFigures.of(wheel, tasks), endpoint, stored,
						new NameReader(endpoint, policies, () -> names(recurring)),
						() -> lateness.stream().findFirst().map(MeteredLateness::read).orElse(null),
						new ConsoleReader.Page(environment.getProperty("spring.application.name"), acts)),
				endpoint, () -> csrfToken.ifAvailable(ServletCsrfTokenHeader::add));
	}

	/**
	 * The endpoint {@code delayedtasks} for the page alone, since it is not exposed.
	 */
	private static DelayedTasksEndpoint endpoint(DelayedTaskRegistry tasks, @Nullable StoredTasks stored,
			Binder binder) {
		String prefix = "management.endpoint.delayedtasks.";
		Show showValues = binder.bind(prefix + "show-values", Show.class).orElse(Show.NEVER);
		Set<String> roles = binder.bind(prefix + "roles", Bindable.setOf(String.class)).orElse(Set.of());
		return new DelayedTasksEndpoint(tasks, stored, showValues, roles);
	}

	private static List<String> names(ObjectProvider<TaskMethodRegistry> recurring) {
		TaskMethodRegistry methods = recurring.getIfAvailable();
		return (methods != null) ? methods.recurringNames() : List.of();
	}

	private static String path(ObjectProvider<PathMapper> mappers) {
		List<PathMapper> all = mappers.orderedStream().toList();
		return PathMapper.getRootPath(all, ID);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	@ConditionalOnClass(name = { "org.springframework.security.web.csrf.CsrfToken",
			"org.springframework.web.context.request.RequestContextHolder" })
	static class ServletCsrfConfiguration {

		@Bean
		ServletCsrfTokenHeader timingWheelConsoleCsrfToken() {
			return new ServletCsrfTokenHeader();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
	@ConditionalOnClass(name = "org.springframework.security.web.server.csrf.CsrfToken")
	static class ReactiveCsrfConfiguration {

		@Bean
		CsrfTokenWebFilter timingWheelConsoleCsrfToken(ObjectProvider<PathMapper> pathMappers) {
			return new CsrfTokenWebFilter(path(pathMappers));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnSingleCandidate(MeterRegistry.class)
	static class MeterConfiguration {

		@Bean
		MeteredLateness timingWheelConsoleLateness(MeterRegistry registry) {
			return new MeteredLateness(registry);
		}

	}

	/**
	 * Keeps the files of the page in a native image.
	 */
	static final class FileHints implements RuntimeHintsRegistrar {

		@Override
		public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
			hints.resources().registerPattern("io/timingwheel/spring/console/*");
		}

	}

}
