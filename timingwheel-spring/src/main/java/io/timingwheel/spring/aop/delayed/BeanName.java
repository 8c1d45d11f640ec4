package io.timingwheel.spring.aop.delayed;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The name of a bean.
 *
 * @param name as the bean factory knows it
 */
record BeanName(String name) {

	/**
	 * The name by which users know it, of the target of a scoped proxy that of the proxy.
	 */
	String publicName() {
		return ScopedProxyUtils.isScopedTarget(this.name) ? ScopedProxyUtils.getOriginalBeanName(this.name) : this.name;
	}

	/**
	 * Whether all calls go to the same object. Tells by the definition, as the question
	 * itself could instantiate a factory.
	 */
	boolean isShared(ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.containsBeanDefinition(this.name)
				&& beanFactory.getMergedBeanDefinition(this.name).isSingleton();
	}

}
