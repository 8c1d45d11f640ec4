package io.timingwheel.spring.aop;

import java.time.Duration;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.context.annotation.Scope;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Beans that are created early, but not before the advice is ready, have the advice.
 */
class EarlyBeansTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(AopAutoConfiguration.class, TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	record NeedyPostProcessor(Object bean, int getOrder) implements BeanPostProcessor, Ordered {

	}

	@ParameterizedTest
	@ValueSource(classes = { NeededByAdvisor.class, NeededByFactoryBean.class, NeededByLastPostProcessor.class,
			NeededByProvider.class })
	void whatCreatesABeanLateEnoughKeepsTheAdvice(Class<?> configuration) {
		this.runner.withUserConfiguration(configuration).withBean("orders", Orders.class).run((context) -> {
			assertThat(context).hasNotFailed();
			Orders orders = context.getBean(Orders.class);
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			orders.close(1);
			assertThat(tasks.find(TaskId.of("close", 1))).isPresent();
			orders.pay(1);
			assertThat(tasks.find(TaskId.of("close", 1))).isEmpty();
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(orders::quote);
			assertThat(tasks.find(TaskId.of("orders.report", "recurring"))).isPresent();
		});
	}

	static class Orders {

		@Delayed(delay = "30m", name = "close", key = "#id")
		public void close(long id) {
		}

		@CancelDelayed(name = "close", key = "#id")
		public void pay(long id) {
		}

		@Timeout("10ms")
		public void quote() throws InterruptedException {
			Thread.sleep(Duration.ofMinutes(1).toMillis());
		}

		@Recurring(every = "1h")
		public void report() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeededByAdvisor {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor advisor(Orders orders) {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.addMethodName("nothing");
			return new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) (invocation) -> invocation.proceed());
		}

	}

	@SuppressWarnings("rawtypes")
	@Configuration(proxyBeanMethods = false)
	static class NeededByFactoryBean {

		@Bean
		static FactoryBean text(Orders orders) {
			return new TextFactory();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeededByLastPostProcessor {

		@Bean
		static BeanPostProcessor last(Orders orders) {
			return new BeanPostProcessor() {
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeededByProvider {

		@Bean
		static NeedyPostProcessor needy(ObjectProvider<Orders> orders) {
			return new NeedyPostProcessor(orders, 0);
		}

		@Bean
		@Scope("prototype")
		StringBuilder prototype(Orders orders) {
			return new StringBuilder();
		}

	}

	static class TextFactory implements FactoryBean<String> {

		@Override
		public String getObject() {
			return "text";
		}

		@Override
		public Class<?> getObjectType() {
			return String.class;
		}

	}

}
