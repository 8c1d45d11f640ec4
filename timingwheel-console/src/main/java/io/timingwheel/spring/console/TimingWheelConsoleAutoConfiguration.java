package io.timingwheel.spring.console;

import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.TaskView;
import io.timingwheel.spring.aop.internal.TaskMethodRegistry;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
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
import org.springframework.boot.actuate.endpoint.web.PathMapper;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of the console.
 *
 * @since 0.1
 */
@AutoConfiguration(after = TimingWheelActuatorAutoConfiguration.class,
		afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnBean(DelayedTasksEndpoint.class)
@ConditionalOnAvailableEndpoint(endpoint = TimingWheelConsoleEndpoint.class, exposure = EndpointExposure.WEB)
@ImportRuntimeHints(TimingWheelConsoleAutoConfiguration.FileHints.class)
public final class TimingWheelConsoleAutoConfiguration {

	private static final EndpointId ID = EndpointId.of(TimingWheelConsoleEndpoint.ID);

	@Bean
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	TimingWheelConsoleEndpoint timingWheelConsoleEndpoint(TimingWheel wheel, DelayedTaskRegistry memory,
			DelayedTasksEndpoint tasks, ObjectProvider<StoredTasks> stored, TaskMethodRegistry methods,
			ObjectProvider<MeterRegistry> meters, ObjectProvider<ServletCsrfTokenHeader> csrfToken,
			ObjectProvider<PathMapper> pathMappers, EndpointAccessResolver access, Environment environment) {
		ConsoleReader reader = new ConsoleReader(wheel, new TaskView(memory, stored.getIfAvailable()), methods,
				meters.getIfUnique());
		return new TimingWheelConsoleEndpoint(new ConsoleFiles(path(pathMappers)), reader, tasks,
				() -> csrfToken.ifAvailable(ServletCsrfTokenHeader::add),
				environment.getProperty("spring.application.name"),
				access.accessFor(ID, Access.READ_ONLY) == Access.UNRESTRICTED);
	}

	private static String path(ObjectProvider<PathMapper> mappers) {
		return PathMapper.getRootPath(mappers.orderedStream().toList(), ID);
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

	/** Keeps the files of the page in a native image. */
	static final class FileHints implements RuntimeHintsRegistrar {

		@Override
		public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
			hints.resources().registerPattern("io/timingwheel/spring/console/*");
		}

	}

}
