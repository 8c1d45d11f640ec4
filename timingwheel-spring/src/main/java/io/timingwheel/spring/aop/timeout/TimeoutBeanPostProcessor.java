package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

/**
 * Adds the advice for {@link Timeout}: the innermost advice of a bean, and an outer one
 * at its place in the order of the advice. The bean may have limits of its own, in place
 * of those of its class.
 */
final class TimeoutBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements AdvicePostProcessor, DisposableBean {

	private final transient TimeoutMethodRegistry methods;

	private final transient TimeoutRuntime runtime;

	/** The beans that got their proxy before they were initialized. */
	private final Set<String> earlyReferences = ConcurrentHashMap.newKeySet();

	TimeoutBeanPostProcessor(TimeoutMethodRegistry methods, TimeoutRuntime runtime) {
		this.methods = methods;
		this.runtime = runtime;
		this.advisor = new DefaultPointcutAdvisor(methods.pointcut(), new ExpiredBodyInterceptor());
		setOrder(TIMEOUT);
	}

	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		this.earlyReferences.add(beanName);
		return advise(bean, beanName);
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return this.earlyReferences.remove(beanName) ? bean : advise(bean, beanName);
	}

	/**
	 * Checks the methods, also those that the type of the bean did not show at startup,
	 * and adds the advice.
	 */
	private Object advise(Object bean, String beanName) {
		Class<?> beanClass = AopUtils.getTargetClass(bean);
		if (!(bean instanceof AopInfrastructureBean)) {
			this.methods.check(beanClass, beanName);
		}
		Object proxy = super.postProcessAfterInitialization(bean, beanName);
		Advisor body = this.advisor;
		if (body != null && proxy instanceof Advised advised && advised.indexOf(body) >= 0) {
			addOuter(advised, this.methods.overridden(beanClass, beanName));
		}
		return proxy;
	}

	private void addOuter(Advised advised, Map<Method, TimeLimit> overridden) {
		DefaultPointcutAdvisor outer = new DefaultPointcutAdvisor(this.methods.pointcut(),
				new TimeoutInterceptor(this.methods, overridden, this.runtime));
		outer.setOrder(this.methods.adviceOrder());
		int position = 0;
		while (AnnotationAwareOrderComparator.INSTANCE.compare(advised.getAdvisors()[position], outer) <= 0
				&& advised.getAdvisors()[position] != this.advisor) {
			position++;
		}
		advised.addAdvisor(position, outer);
	}

	@Override
	public void destroy() {
		this.runtime.close();
	}

}
