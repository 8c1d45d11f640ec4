package io.timingwheel.spring.aop.timeout;

import io.timingwheel.spring.aop.BodyAdvisor;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Registers the other beans that {@link TimeoutAdvisor} needs: the innermost advisor of a
 * method with a time limit and, if there is none, an auto-proxy creator. There is none
 * with {@code spring.aop.auto=false}. That auto-proxy creator applies infrastructure
 * advisors only, so the application's own aspects stay switched off.
 *
 * @since 0.1
 */
public final class TimeoutInfrastructure implements BeanDefinitionRegistryPostProcessor {

	private static final String BODY_ADVISOR = ExpiredBodyAdvisor.class.getName();

	private static final String PROXY_TARGET_CLASS = "spring.aop.proxy-target-class";

	private final Environment environment;

	/**
	 * Creates the post-processor.
	 * @param environment holds the settings of the proxies
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
			// A reference by type would instantiate factory beans, and what they need.
			String methods = ((ListableBeanFactory) registry).getBeanNamesForType(TimeoutMethodRegistry.class, true,
					false)[0];
			advisor.getConstructorArgumentValues().addGenericArgumentValue(new RuntimeBeanReference(methods));
			registry.registerBeanDefinition(BODY_ADVISOR, advisor);
		}
	}

	/**
	 * The innermost advisor of a method with a time limit. Its order is the order of the
	 * transaction advisor. Among advisors of the same order, the one that was registered
	 * last is the innermost, and a registry post-processor registers last.
	 */
	static final class ExpiredBodyAdvisor extends DefaultPointcutAdvisor implements BodyAdvisor {

		ExpiredBodyAdvisor(TimeoutMethodRegistry methods) {
			super(methods.pointcut(), new ExpiredBodyInterceptor());
			setOrder(Ordered.LOWEST_PRECEDENCE);
		}

	}

	/**
	 * Throws the timeout as soon as an expired body returns, so that the advice between
	 * this interceptor and {@link TimeoutInterceptor} sees an exception: a transaction
	 * rolls back. Also clears the interrupt, which would disturb the rollback.
	 */
	private static final class ExpiredBodyInterceptor implements MethodInterceptor {

		@Override
		public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
			InterruptGuard guard = InterruptGuard.current(invocation);
			if (guard == null) {
				return invocation.proceed();
			}
			if (guard.clearIfExpired()) {
				throw guard.timeout(null);
			}
			Object result = null;
			Throwable failure = null;
			try {
				result = invocation.proceed();
			}
			catch (Throwable ex) {
				failure = ex;
			}
			if (guard.clearIfExpired()) {
				FutureTimeout.cancelSource(result);
				throw guard.timeout(failure);
			}
			if (failure != null) {
				throw failure;
			}
			return result;
		}

	}

}
