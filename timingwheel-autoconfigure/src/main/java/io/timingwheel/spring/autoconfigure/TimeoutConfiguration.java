package io.timingwheel.spring.autoconfigure;

import java.util.List;
import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.CreatedBeans;
import io.timingwheel.spring.aop.timeout.TimeoutAdvisor;
import io.timingwheel.spring.aop.timeout.TimeoutBeanPostProcessor;
import io.timingwheel.spring.aop.timeout.TimeoutInfrastructure;
import io.timingwheel.spring.aop.timeout.TimeoutListener;
import io.timingwheel.spring.aop.timeout.TimeoutMethodRegistry;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.support.CallerContext;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;
import org.springframework.util.function.SingletonSupplier;

/**
 * Configuration of {@link Timeout}. Spring needs the advisor before the beans that the
 * advisor uses may be created. The advisor therefore looks up these beans at the first
 * call, and its order is read from the environment. As in {@link DelayedConfiguration},
 * parameters have the names of beans.
 */
@Configuration(proxyBeanMethods = false)
@Import(AnnotatedMethodConfiguration.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class TimeoutConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutMethodRegistry timingWheelTimeoutMethodRegistry(CreatedBeans timingWheelCreatedBeans,
			Environment environment) {
		return new TimeoutMethodRegistry(timingWheelCreatedBeans.beanFactory(),
				SingletonSupplier.of(() -> new TimeoutLimitProperties(environment)));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutBeanPostProcessor timingWheelTimeoutBeanPostProcessor(
			TimeoutMethodRegistry timingWheelTimeoutMethodRegistry) {
		return new TimeoutBeanPostProcessor(timingWheelTimeoutMethodRegistry);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutInfrastructure timingWheelTimeoutInfrastructure(Environment environment) {
		return new TimeoutInfrastructure(environment);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutAdvisor timingWheelTimeoutAdvisor(TimeoutMethodRegistry timingWheelTimeoutMethodRegistry,
			ObjectProvider<TimingWheel> wheel, ObjectProvider<TaskExecutors> executors,
			ObjectProvider<HandOverExecutors> handOvers, ObjectProvider<TaskDecorator> decorators,
			ObjectProvider<TimeoutListener> listeners, Environment environment) {
		int order = Binder.get(environment)
			.bind("timingwheel.timeout.order", Integer.class)
			.orElse(TimeoutAdvisor.DEFAULT_ORDER);
		Supplier<List<TimeoutListener>> allListeners = () -> listeners.orderedStream().toList();
		Supplier<CallerContext> context = () -> new CallerContext(
				TimingWheelAutoConfiguration.compose(decorators.orderedStream().toList()),
				() -> executors.getObject().defaultExecutor());
		return new TimeoutAdvisor(timingWheelTimeoutMethodRegistry, SingletonSupplier.of(wheel::getObject),
				SingletonSupplier.of(() -> handOvers.getObject().completions()), SingletonSupplier.of(context),
				SingletonSupplier.of(allListeners), order);
	}

}
