package io.timingwheel.spring.aop.internal.timeout;

import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.AnnotatedMethodConfiguration;
import io.timingwheel.spring.aop.internal.AnnotatedBeans;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.memory.CallerContext;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.util.function.SingletonSupplier;

/**
 * Configuration of {@link Timeout}. Spring needs the advice before the beans that the
 * advice uses may be created, so the advice looks them up at the first call. Parameters
 * have the names of beans: Spring finds a bean of a given name without instantiating any
 * {@code FactoryBean}.
 *
 * @since 0.1
 */
@Configuration(proxyBeanMethods = false)
@Import(AnnotatedMethodConfiguration.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class TimeoutMethodConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutMethodRegistry timingWheelTimeoutMethods(AnnotatedBeans timingWheelAnnotatedBeans,
			TimeoutOverrides timingWheelTimeoutOverrides) {
		return new TimeoutMethodRegistry(timingWheelAnnotatedBeans, timingWheelTimeoutOverrides);
	}

	/** Its thread ends with the context. */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DeadlineStacks timingWheelDeadlineStacks() {
		return new DeadlineStacks();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static TimeoutBeanPostProcessor timingWheelTimeoutProcessor(TimeoutMethodRegistry timingWheelTimeoutMethods,
			AnnotatedBeans timingWheelAnnotatedBeans, DeadlineStacks timingWheelDeadlineStacks,
			ObjectProvider<TimingWheel> wheel, ObjectProvider<HandOverExecutors> handOvers,
			ObjectProvider<CallerContext> context) {
		Supplier<TimeoutRuntime> runtime = () -> new TimeoutRuntime(wheel.getObject(),
				handOvers.getObject().completions(), context.getObject(), timingWheelTimeoutMethods::timedOut,
				timingWheelDeadlineStacks);
		return new TimeoutBeanPostProcessor(timingWheelTimeoutMethods, SingletonSupplier.of(runtime),
				timingWheelAnnotatedBeans.beanFactory());
	}

}
