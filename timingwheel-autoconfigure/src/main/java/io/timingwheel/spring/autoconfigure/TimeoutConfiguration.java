package io.timingwheel.spring.autoconfigure;

import java.util.List;
import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.AnnotatedMethodConfiguration;
import io.timingwheel.spring.aop.CreatedBeans;
import io.timingwheel.spring.aop.ProxyRules;
import io.timingwheel.spring.aop.timeout.TimeoutBeanPostProcessor;
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
 * Configuration of {@link Timeout}. Spring needs the advice before the beans that the
 * advice uses may be created. The advice therefore looks up these beans at the first
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
			TimeoutMethodRegistry timingWheelTimeoutMethodRegistry, CreatedBeans timingWheelCreatedBeans,
			ObjectProvider<TimingWheel> wheel, ObjectProvider<TaskExecutors> executors,
			ObjectProvider<HandOverExecutors> handOvers, ObjectProvider<TaskDecorator> decorators,
			ObjectProvider<TimeoutListener> listeners, Environment environment) {
		int order = Binder.get(environment)
			.bind("timingwheel.timeout.order", Integer.class)
			.orElse(TimeoutBeanPostProcessor.DEFAULT_ORDER);
		Supplier<List<TimeoutListener>> allListeners = () -> listeners.orderedStream().toList();
		Supplier<CallerContext> context = () -> new CallerContext(
				TimingWheelAutoConfiguration.compose(decorators.orderedStream().toList()),
				() -> executors.getObject().defaultExecutor());
		TimeoutBeanPostProcessor processor = new TimeoutBeanPostProcessor(timingWheelTimeoutMethodRegistry,
				SingletonSupplier.of(wheel::getObject), SingletonSupplier.of(() -> handOvers.getObject().completions()),
				SingletonSupplier.of(context), SingletonSupplier.of(allListeners), order);
		processor.setProxyTargetClass(ProxyRules.isClassBased(timingWheelCreatedBeans.beanFactory()));
		return processor;
	}

}
