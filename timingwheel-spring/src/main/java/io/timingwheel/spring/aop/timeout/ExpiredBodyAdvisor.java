package io.timingwheel.spring.aop.timeout;

import io.timingwheel.spring.aop.BodyAdvisor;

import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.core.Ordered;

/**
 * The innermost advice of a method with a limit. It has the order of the transaction's
 * advisor and stands behind it, as it is the last to be registered.
 */
class ExpiredBodyAdvisor extends DefaultPointcutAdvisor implements BodyAdvisor {

	ExpiredBodyAdvisor(TimeoutMethods methods) {
		super(methods.pointcut(), new ExpiredBodyInterceptor());
		setOrder(Ordered.LOWEST_PRECEDENCE);
	}

}
