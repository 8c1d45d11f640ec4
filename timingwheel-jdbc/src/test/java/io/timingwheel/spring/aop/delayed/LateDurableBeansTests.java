package io.timingwheel.spring.aop.delayed;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Beans that a scan of the bean definitions cannot know: the class is hidden, the bean
 * comes after the start, goes away, or exists in some requests only.
 */
@ExtendWith(OutputCaptureExtension.class)
class LateDurableBeansTests {

	private static final List<String> runs = new CopyOnWriteArrayList<>();

	@BeforeEach
	void reset() {
		runs.clear();
	}

	@Test
	void aDurableBeanThatIsRegisteredAfterTheStartRuns() {
		stored().run((context) -> {
			GenericApplicationContext application = (GenericApplicationContext) context.getSourceApplicationContext();
			application.registerBean("late", DurableJob.class);
			application.getBean("late");
			await().untilAsserted(() -> assertThat(runs).contains("durable report"));
		});
	}

	@Test
	void aDurableBeanThatIsRemovedRunsNoMore(CapturedOutput output) {
		stored().withBean("job", DurableJob.class).run((context) -> {
			GenericApplicationContext application = (GenericApplicationContext) context.getSourceApplicationContext();
			await().untilAsserted(() -> assertThat(runs).isNotEmpty());
			application.removeBeanDefinition("job");
			await().untilAsserted(() -> assertThat(output).contains("The bean \"job\" is gone"));
		});
	}

	@Test
	void aBeanOfARequestCannotRunStoredCalls() {
		stored().withUserConfiguration(ConversationScope.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("DurableHandler#handle(long)")
				.hasMessageContaining("the scope \"conversation\""));
	}

	private static ApplicationContextRunner stored(Class<?>... configurations) {
		return DelayedContexts.realTimeRunner(configurations)
			.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class, DataSourceAutoConfiguration.class,
					TimingWheelJdbcStoreAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=jdbc", "timingwheel.store.poll-interval=20ms",
					"spring.datasource.generate-unique-name=true");
	}

	interface Job {

	}

	static class DurableJob implements Job {

		@Recurring(every = "50ms", durable = true)
		public void report() {
			runs.add("durable report");
		}

		@Delayed(delay = "1s", name = "handle", key = "#id", durable = true)
		public void handle(long id) {
			runs.add("handled " + id);
		}

	}

	static class DurableHandler {

		@Delayed(delay = "1s", name = "handle", key = "#id", durable = true)
		public void handle(long id) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ConversationScope {

		@Bean
		@Scope("conversation")
		DurableHandler handler() {
			return new DurableHandler();
		}

	}

}
