package io.timingwheel.spring.aop.timeout;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.BeanTypes;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Checks the methods with {@link Timeout} of all beans before any bean is made, from
 * their types, without instantiating lazy ones. Limits that are bean expressions are
 * resolved once the singletons are there.
 */
public class TimeoutMethodScanner implements BeanFactoryPostProcessor, SmartInitializingSingleton {

	private final TimeLimits limits;

	/**
	 * Creates a scanner.
	 * @param limits what does the checks and keeps the results
	 */
	public TimeoutMethodScanner(TimeLimits limits) {
		this.limits = limits;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		BeanTypes.forEach(beanFactory, this.limits::check);
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.limits.resolve();
	}

}
