package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.AnnotatedGenericBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.support.BeanDefinitionReaderUtils;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Beans that a scan of the bean definitions cannot know: the class is hidden, the bean
 * comes after the start, goes away, or exists in some requests only.
 */
@ExtendWith(OutputCaptureExtension.class)
class LateBeansTests {

	private static final List<String> runs = new ArrayList<>();

	@BeforeEach
	void reset() {
		runs.clear();
	}

	private static void assertRunsEachHour(VirtualApplication application) {
		application.advanceSeconds(0);
		application.advance(Duration.ofHours(1));
		assertThat(runs).containsExactly("report", "report");
		runs.clear();
	}

	static Stream<FactoryBean<?>> theProductOfAFactoryBeanRuns() {
		return Stream.of(new JobFactory(ReportJob.class), new JobFactory(Job.class));
	}

	@ParameterizedTest
	@MethodSource
	void theProductOfAFactoryBeanRuns(FactoryBean<?> factory) {
		try (VirtualApplication application = VirtualApplication.of().with("job", FactoryBean.class, () -> factory)) {
			assertRunsEachHour(application);
		}
	}

	@Test
	void aLazyBeanWhoseClassIsHiddenRunsAndItsNameCanBeCancelled() {
		try (VirtualApplication application = VirtualApplication.of(HiddenJob.class, Stopping.class).lazy(true)) {
			assertRunsEachHour(application);
			assertThat(application.context().getBeanFactory().containsSingleton("unrelated")).isFalse();
			application.bean(Job.class).remind(1);
			application.bean(Stopping.class).stop(1);
			assertThat(application.tasks().find(TaskId.of("remind", 1))).isEmpty();
		}
	}

	@Test
	void aBeanThatIsRegisteredAfterTheStartRunsUntilItIsRemovedAndWhenItIsBack(CapturedOutput output) {
		try (VirtualApplication application = VirtualApplication.of()) {
			register(application, ReportJob.class);
			assertRunsEachHour(application);
			application.context().removeBeanDefinition("late");
			application.advance(Duration.ofHours(1));
			application.advance(Duration.ofHours(1));
			assertThat(runs).isEmpty();
			assertThat(output.getAll().split("The bean \"late\" is gone", -1)).hasSize(2);
			assertThat(output).doesNotContain("NoSuchBeanDefinitionException");
			assertThat(application.tasks().find(TaskId.of("report", "recurring"))).isEmpty();
			register(application, ReportJob.class);
			assertRunsEachHour(application);
		}
	}

	private static void register(VirtualApplication application, Class<?> bean) {
		application.context().registerBean("late", bean);
		application.context().getBean("late");
	}

	@Test
	void aLateBeanCannotTakeTheNameOfAnotherMethod() {
		for (Class<?> late : List.of(ReportJob.class, WithTheNameOfTheJob.class)) {
			try (VirtualApplication application = VirtualApplication.of(ReportJob.class)) {
				application.context();
				assertThatException().isThrownBy(() -> register(application, late))
					.havingRootCause()
					.isInstanceOf(InvalidAnnotatedMethodException.class)
					.withMessageContaining("belongs to " + ReportJob.class.getName());
			}
		}
	}

	@Test
	void aMisspeltNameStopsTheStartBesideUnrelatedLazyBeansAndThoseOfSpringBoot() {
		web().withConfiguration(AutoConfigurations.of(TomcatServletWebServerAutoConfiguration.class))
			.withUserConfiguration(Misspelt.class, HiddenJob.class)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("names the task \"remin\"")
				.hasMessageContaining("remind"));
	}

	@Test
	void aLazyBeanThatCannotBeCreatedDoesNotStopTheStart(CapturedOutput output) {
		DelayedContexts.runner(Misspelt.class).withBean("broken", Runnable.class, () -> {
			throw new IllegalStateException("not reachable yet");
		}, (definition) -> definition.setLazyInit(true)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("names the task \"remin\"").contains("whose classes are unknown, [broken]");
		});
	}

	@ParameterizedTest
	@CsvSource({ "request, false", "session, false", "request, true" })
	void aBeanOfARequestCannotRunByItself(String scope, boolean proxy) {
		web().withInitializer((context) -> {
			AnnotatedGenericBeanDefinition definition = new AnnotatedGenericBeanDefinition(ReportJob.class);
			definition.setScope(scope);
			BeanDefinitionHolder holder = new BeanDefinitionHolder(definition, "job");
			BeanDefinitionRegistry registry = (BeanDefinitionRegistry) context;
			BeanDefinitionReaderUtils.registerBeanDefinition(
					proxy ? ScopedProxyUtils.createScopedProxy(holder, registry, true) : holder, registry);
		})
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("ReportJob#report()")
				.hasMessageContaining("the scope \"" + scope)
				.hasMessageContaining("make the bean \"job\" a singleton"));
	}

	private static WebApplicationContextRunner web() {
		return new WebApplicationContextRunner().withConfiguration(
				AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));
	}

	interface Job {

		void remind(long id);

	}

	static class ReportJob implements Job {

		@Recurring(every = "1h", name = "report")
		public void report() {
			runs.add("report");
		}

		@Override
		@Delayed(delay = "1h", name = "remind", key = "#id")
		public void remind(long id) {
		}

	}

	static class WithTheNameOfTheJob {

		@Delayed(delay = "1h", name = "report")
		public void remind() {
		}

	}

	static class Stopping {

		@CancelDelayed(name = "remind", key = "#id")
		public void stop(long id) {
		}

	}

	static class Misspelt {

		@CancelDelayed(name = "remin", key = "#id")
		public void stop(long id) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenJob {

		@Bean
		Job job() {
			return new ReportJob();
		}

		@Bean
		Comparable<String> unrelated() {
			return "text";
		}

	}

	record JobFactory(Class<?> type) implements FactoryBean<Object> {

		@Override
		public Object getObject() {
			return new ReportJob();
		}

		@Override
		public Class<?> getObjectType() {
			return this.type;
		}

	}

}
