package io.timingwheel.spring.aop.internal.timeout;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.AdvicePostProcessor;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

/**
 * Adds the advice for {@link Timeout}: the innermost advice of a bean, and an outer one
 * at its place in the order of the advice.
 */
final class TimeoutBeanPostProcessor extends AdvicePostProcessor {

	private final transient TimeoutMethodRegistry methods;

	private final transient Supplier<TimeoutRuntime> runtime;

	/** The beans that got their proxy before they were initialized. */
	private final Set<String> earlyReferences = ConcurrentHashMap.newKeySet();

	TimeoutBeanPostProcessor(TimeoutMethodRegistry methods, Supplier<TimeoutRuntime> runtime,
			ConfigurableListableBeanFactory beanFactory) {
		super(methods.annotated(), TIMEOUT, beanFactory);
		this.methods = methods;
		this.runtime = runtime;
		this.advisor = new DefaultPointcutAdvisor(methods.annotated().pointcut(),
				(MethodInterceptor) InterruptGuard::runBody);
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

	private Object advise(Object bean, String beanName) {
		Object proxy = super.postProcessAfterInitialization(bean, beanName);
		Advisor body = this.advisor;
		if (body != null && proxy instanceof Advised advised && advised.indexOf(body) >= 0) {
			DefaultPointcutAdvisor outer = new DefaultPointcutAdvisor(this.methods.annotated().pointcut(),
					new TimeoutInterceptor(this.methods, beanName, this.runtime));
			outer.setOrder(this.methods.adviceOrder());
			Advisor[] advisors = advised.getAdvisors();
			int position = 0;
			while (advisors[position] != body
					&& AnnotationAwareOrderComparator.INSTANCE.compare(advisors[position], outer) <= 0) {
				position++;
			}
			advised.addAdvisor(position, outer);
		}
		return proxy;
	}

}
