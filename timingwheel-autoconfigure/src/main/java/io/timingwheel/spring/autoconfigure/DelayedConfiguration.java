package io.timingwheel.spring.autoconfigure;

import java.util.concurrent.Executor;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.CreatedBeans;
import io.timingwheel.spring.aop.ProxyRules;
import io.timingwheel.spring.aop.delayed.CancelDelayedAnnotationBeanPostProcessor;
import io.timingwheel.spring.aop.delayed.CancelDelayedMethodRegistry;
import io.timingwheel.spring.aop.delayed.DelayedAnnotationBeanPostProcessor;
import io.timingwheel.spring.aop.delayed.DelayedMethodRegistry;
import io.timingwheel.spring.aop.delayed.DelayedProxyBeanPostProcessor;
import io.timingwheel.spring.aop.delayed.DelayedRuntime;
import io.timingwheel.spring.aop.delayed.RecurringMethodRegistry;
import io.timingwheel.spring.task.internal.ManualTime;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.internal.TaskPolicies;

import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * Configuration of {@link Delayed} and
 * {@link io.timingwheel.spring.annotation.CancelDelayed}. Spring needs the advice before
 * the beans that the advice uses may be created. The advice therefore looks up these
 * beans at the first call. Parameters of these early beans have the names of beans.
 * Spring finds a bean of a given name without instantiating any {@code FactoryBean}.
 */
@Configuration(proxyBeanMethods = false)
@Import(AnnotatedMethodConfiguration.class)
@EnableConfigurationProperties(TimingWheelProperties.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class DelayedConfiguration {

	private static final String THREAD_NAME_PREFIX = "delayed-";

	private static final int POOL_SIZE = 8;

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DelayedRuntime timingWheelDelayedRuntime(CreatedBeans timingWheelCreatedBeans) {
		return new DelayedRuntime(timingWheelCreatedBeans.beanFactory());
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DelayedMethodRegistry timingWheelDelayedMethods(CreatedBeans timingWheelCreatedBeans,
			DelayedRuntime timingWheelDelayedRuntime) {
		return new DelayedMethodRegistry(timingWheelCreatedBeans.beanFactory(), timingWheelDelayedRuntime);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CancelDelayedMethodRegistry timingWheelCancelDelayedMethods(CreatedBeans timingWheelCreatedBeans,
			DelayedMethodRegistry timingWheelDelayedMethods) {
		return new CancelDelayedMethodRegistry(timingWheelCreatedBeans, timingWheelDelayedMethods);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RecurringMethodRegistry timingWheelRecurringMethods(CreatedBeans timingWheelCreatedBeans,
			DelayedMethodRegistry timingWheelDelayedMethods, DelayedRuntime timingWheelDelayedRuntime) {
		return new RecurringMethodRegistry(timingWheelCreatedBeans, timingWheelDelayedMethods,
				timingWheelDelayedRuntime);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DelayedProxyBeanPostProcessor timingWheelDelayedProxyProcessor(
			DelayedMethodRegistry timingWheelDelayedMethods, CreatedBeans timingWheelCreatedBeans) {
		return configure(new DelayedProxyBeanPostProcessor(timingWheelDelayedMethods), timingWheelCreatedBeans);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DelayedAnnotationBeanPostProcessor timingWheelDelayedAnnotationProcessor(
			DelayedMethodRegistry timingWheelDelayedMethods, DelayedRuntime timingWheelDelayedRuntime,
			CreatedBeans timingWheelCreatedBeans) {
		return configure(new DelayedAnnotationBeanPostProcessor(timingWheelDelayedMethods, timingWheelDelayedRuntime),
				timingWheelCreatedBeans);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CancelDelayedAnnotationBeanPostProcessor timingWheelCancelDelayedAnnotationProcessor(
			CancelDelayedMethodRegistry timingWheelCancelDelayedMethods, DelayedRuntime timingWheelDelayedRuntime,
			CreatedBeans timingWheelCreatedBeans) {
		return configure(new CancelDelayedAnnotationBeanPostProcessor(timingWheelCancelDelayedMethods,
				timingWheelDelayedRuntime), timingWheelCreatedBeans);
	}

	@Bean
	static TaskPolicies timingWheelTaskPolicies(Environment environment, ObjectProvider<ManualTime> manualTime) {
		return new TaskPolicies(new TaskPolicyProperties(environment), manualTime.getIfAvailable() != null);
	}

	@Bean
	static TaskExecutors timingWheelTaskExecutors(BeanFactory beanFactory, Environment environment) {
		return new TaskExecutors(beanFactory, () -> newPool(environment));
	}

	private static Executor newPool(Environment environment) {
		if (Threading.VIRTUAL.isActive(environment)) {
			SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor(THREAD_NAME_PREFIX);
			executor.setVirtualThreads(true);
			return executor;
		}
		ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
		pool.setThreadNamePrefix(THREAD_NAME_PREFIX);
		pool.setCorePoolSize(POOL_SIZE);
		pool.setAllowCoreThreadTimeOut(true);
		pool.setDaemon(true);
		pool.initialize();
		return pool;
	}

	static <T extends ProxyProcessorSupport> T configure(T processor, CreatedBeans beans) {
		processor.setProxyTargetClass(ProxyRules.isClassBased(beans.beanFactory()));
		return processor;
	}

}
