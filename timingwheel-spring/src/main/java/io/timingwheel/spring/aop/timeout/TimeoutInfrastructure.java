package io.timingwheel.spring.aop.timeout;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.env.Environment;

/**
 * Registers, after all other definitions, the innermost advisor, and an auto-proxy
 * creator if there is none, as with {@code spring.aop.auto=false}. That one applies
 * infrastructure advisors only, and leaves the application's own aspects alone.
 */
public class TimeoutInfrastructure implements BeanDefinitionRegistryPostProcessor {

	private static final String BODY_ADVISOR = ExpiredBodyAdvisor.class.getName();

	private static final String PROXY_TARGET_CLASS = "spring.aop.proxy-target-class";

	private final Environment environment;

	/**
	 * Creates the post-processor.
	 * @param environment says how to proxy
	 */
	public TimeoutInfrastructure(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		BeanDefinition creator = AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		if (creator != null && this.environment.getProperty(PROXY_TARGET_CLASS, Boolean.class, true)) {
			creator.getPropertyValues().add("proxyTargetClass", true);
		}
		if (!registry.containsBeanDefinition(BODY_ADVISOR)) {
			RootBeanDefinition advisor = new RootBeanDefinition(ExpiredBodyAdvisor.class);
			advisor.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
			advisor.getConstructorArgumentValues()
				.addGenericArgumentValue(new RuntimeBeanReference(TimeoutMethods.class));
			registry.registerBeanDefinition(BODY_ADVISOR, advisor);
		}
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
	}

}
