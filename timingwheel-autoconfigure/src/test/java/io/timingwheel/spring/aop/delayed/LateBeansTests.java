package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.web.context.WebApplicationContext;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Beans that a scan of the bean definitions cannot know: the class is hidden, the bean
 * comes after the start, goes away, or exists in some requests only.
 */
@ExtendWith(OutputCaptureExtension.class)
class LateBeansTests {

	private static final List<String> runs = new CopyOnWriteArrayList<>();

	@BeforeEach
	void reset() {
		runs.clear();
	}

	@ParameterizedTest
	@ValueSource(classes = { TypedFactory.class, InterfaceFactory.class, DynamicFactory.class })
	void theProductOfAFactoryBeanRuns(Class<?> configuration) {
		DelayedContexts.runner(configuration).run((context) -> {
			advanceAndAwait(context, Duration.ZERO);
			advanceAndAwait(context, Duration.ofHours(1));
			assertThat(runs).containsExactly("report", "report");
		});
	}

	@Test
	void aBeanThatIsRegisteredAfterTheStartRuns() {
		DelayedContexts.runner().run((context) -> {
			GenericApplicationContext application = (GenericApplicationContext) context.getSourceApplicationContext();
			application.registerBean("late", ReportJob.class);
			application.getBean("late");
			advanceAndAwait(context, Duration.ZERO);
			advanceAndAwait(context, Duration.ofHours(1));
			assertThat(runs).containsExactly("report", "report");
		});
	}

	@Test
	void aBadAnnotationOfALateBeanFailsItsCreation() {
		DelayedContexts.runner().withBean("first", NamedJob.class).run((context) -> {
			GenericApplicationContext application = (GenericApplicationContext) context.getSourceApplicationContext();
			application.registerBean("late", NamedJob.class);
			assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> application.getBean("late"))).rootCause()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("belongs to");
		});
	}

	@Test
	void aLateDelayedMethodCannotTakeTheNameOfARecurringOne() {
		DelayedContexts.runner().withBean("first", NamedJob.class).run((context) -> {
			GenericApplicationContext application = (GenericApplicationContext) context.getSourceApplicationContext();
			application.registerBean("late", DelayedWithTheNameOfTheJob.class);
			assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> application.getBean("late"))).rootCause()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("of @Delayed belongs to " + NamedJob.class.getName());
		});
	}

	@Test
	void aBeanThatIsRemovedRunsNoMoreUntilItIsBack(CapturedOutput output) {
		DelayedContexts.runner().withBean("job", ReportJob.class).run((context) -> {
			GenericApplicationContext application = (GenericApplicationContext) context.getSourceApplicationContext();
			advanceAndAwait(context, Duration.ZERO);
			advanceAndAwait(context, Duration.ofHours(1));
			application.removeBeanDefinition("job");
			advanceAndAwait(context, Duration.ofHours(1));
			advanceAndAwait(context, Duration.ofHours(1));
			assertThat(runs).hasSize(2);
			assertThat(output.getAll().split("The bean \"job\" is gone", -1)).hasSize(2);
			assertThat(output).doesNotContain("NoSuchBeanDefinitionException");
			assertThat(context.getBean(DelayedTaskOperations.class).find(TaskId.of("job.report", "recurring")))
				.isEmpty();
			application.registerBean("job", ReportJob.class);
			application.getBean("job");
			advanceAndAwait(context, Duration.ZERO);
			advanceAndAwait(context, Duration.ofHours(1));
			assertThat(runs).hasSize(4);
		});
	}

	@Test
	void aLazyBeanWhoseClassIsHiddenRuns() {
		DelayedContexts.runner(HiddenJob.class)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> {
				advanceAndAwait(context, Duration.ZERO);
				advanceAndAwait(context, Duration.ofHours(1));
				assertThat(runs).containsExactly("report", "report");
				assertThat(context.getBeanFactory().containsSingleton("unrelated")).isFalse();
			});
	}

	@Test
	void aMisspeltNameFailsBesideUnrelatedLazyBeans() {
		DelayedContexts.runner(Unrelated.class)
			.withBean(Misspelt.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("names the task \"deadlin\"")
				.hasMessageContaining("[deadline]"));
	}

	@Test
	void aMisspeltNameFailsAlsoBesideTheBeansThatSpringBootMarksAsItsOwn() {
		web().withConfiguration(AutoConfigurations.of(TomcatServletWebServerAutoConfiguration.class))
			.withBean(Misspelt.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("names the task \"deadlin\""));
	}

	@Test
	void aLazyBeanThatCannotBeCreatedDoesNotStopTheStart(CapturedOutput output) {
		DelayedContexts.runner().withBean(Misspelt.class).withBean("broken", Runnable.class, () -> {
			throw new IllegalStateException("not reachable yet");
		}, (definition) -> definition.setLazyInit(true)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("names the task \"deadlin\"").contains("The lazy bean \"broken\"");
		});
	}

	@Test
	void aBeanOfARequestCannotRunByItself() {
		for (Class<?> configuration : List.of(RequestJob.class, SessionJob.class, ProxiedRequestJob.class)) {
			web().withUserConfiguration(configuration)
				.run((context) -> assertThat(context).getFailure()
					.isInstanceOf(InvalidAnnotatedMethodException.class)
					.hasMessageContaining("ReportJob#report()")
					.hasMessageContaining(
							"the scope \"" + ((configuration == SessionJob.class) ? "session" : "request"))
					.hasMessageContaining("make the bean \"job\" a singleton"));
		}
	}

	private static WebApplicationContextRunner web() {
		return new WebApplicationContextRunner().withConfiguration(
				AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));
	}

	interface Job {

	}

	static class ReportJob implements Job {

		@Recurring(every = "1h")
		public void report() {
			runs.add("report");
		}

	}

	static class NamedJob implements Job {

		@Recurring(every = "1h", name = "named")
		public void report() {
		}

	}

	static class Misspelt {

		@Delayed(delay = "1h", name = "deadline", key = "#id")
		public void arm(long id) {
		}

		@CancelDelayed(name = "deadlin", key = "#id")
		public void cancel(long id) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Unrelated {

		@Bean
		@Lazy
		Comparable<String> unrelated() {
			return "text";
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

	@Configuration(proxyBeanMethods = false)
	static class TypedFactory {

		@Bean
		FactoryBean<ReportJob> job() {
			return new FactoryBean<>() {

				@Override
				public ReportJob getObject() {
					return new ReportJob();
				}

				@Override
				public Class<?> getObjectType() {
					return ReportJob.class;
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InterfaceFactory {

		@Bean
		JobFactory job() {
			return new JobFactory();
		}

	}

	static class JobFactory implements FactoryBean<Job> {

		@Override
		public Job getObject() {
			return new ReportJob();
		}

		@Override
		public Class<?> getObjectType() {
			return Job.class;
		}

	}

	@SuppressWarnings("rawtypes")
	@Configuration(proxyBeanMethods = false)
	static class DynamicFactory {

		@Bean
		FactoryBean job() {
			return new FactoryBean() {

				@Override
				public Object getObject() {
					return new ReportJob();
				}

				@Override
				public Class<?> getObjectType() {
					return ReportJob.class;
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RequestJob {

		@Bean
		@Scope(WebApplicationContext.SCOPE_REQUEST)
		ReportJob job() {
			return new ReportJob();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SessionJob {

		@Bean
		@Scope(WebApplicationContext.SCOPE_SESSION)
		ReportJob job() {
			return new ReportJob();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ProxiedRequestJob {

		@Bean
		@Scope(scopeName = WebApplicationContext.SCOPE_REQUEST, proxyMode = ScopedProxyMode.TARGET_CLASS)
		ReportJob job() {
			return new ReportJob();
		}

	}

	public static class DelayedWithTheNameOfTheJob {

		@Delayed(delay = "1h", name = "named")
		public void remind() {
		}

	}

}
