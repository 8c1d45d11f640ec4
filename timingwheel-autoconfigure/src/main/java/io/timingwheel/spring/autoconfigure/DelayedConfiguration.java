package io.timingwheel.spring.autoconfigure;

import java.util.concurrent.Executor;

import io.timingwheel.spring.aop.internal.delayed.DelayedMethodConfiguration;
import io.timingwheel.spring.task.internal.ManualTime;
import io.timingwheel.spring.task.internal.TaskExecutors;
import io.timingwheel.spring.task.internal.TaskPolicies;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * What the methods with {@code @Delayed}, {@code @CancelDelayed} and {@code @Recurring}
 * need.
 */
@Configuration(proxyBeanMethods = false)
@Import(DelayedMethodConfiguration.class)
@EnableConfigurationProperties(TimingWheelProperties.class)
class DelayedConfiguration {

	private static final String THREAD_NAME_PREFIX = "delayed-";

	private static final int POOL_SIZE = 8;

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

}
