package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;

import io.timingwheel.spring.task.support.TaskBody;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;

/**
 * The body of a {@code @Delayed} method. A pending call is its invocation, which goes on
 * with the next advice when the time has come. Where there is no other advice and the
 * bean is one object for all calls, the arguments are enough, and save 48 bytes.
 */
final class InvocationBody implements TaskBody<Object> {

	private final DelayedMethod method;

	private final DelayedRuntime runtime;

	/** Of a bean that is one object for all calls, that object. */
	private volatile @Nullable Object target;

	InvocationBody(DelayedMethod method, DelayedRuntime runtime) {
		this.method = method;
		this.runtime = runtime;
	}

	/**
	 * What to keep of a call until the body runs.
	 */
	Object payload(MethodInvocation invocation, Object proxy) {
		if (this.method.shared() && proxy instanceof Advised advised && advised.getAdvisorCount() == 1) {
			Object target = this.target;
			if (target == null) {
				target = invocation.getThis();
				this.target = target;
			}
			if (target != null && target == invocation.getThis()) {
				return invocation.getArguments();
			}
		}
		return invocation;
	}

	@Override
	public @Nullable Object run(Object payload) throws Throwable {
		if (payload instanceof MethodInvocation invocation) {
			return invocation.proceed();
		}
		return AopUtils.invokeJoinpointUsingReflection(this.target, this.method.method(), (Object[]) payload);
	}

	@Override
	public void handleError(Throwable error, Object payload) {
		if (this.method.returnKind() == ReturnKind.NOTHING) {
			uncaught(error, (payload instanceof MethodInvocation invocation) ? invocation.getArguments()
					: (@Nullable Object[]) payload);
		}
	}

	/**
	 * Tells the handler of an exception that no future can carry.
	 */
	void uncaught(Throwable error, @Nullable Object[] arguments) {
		this.runtime.uncaught(error, this.method.method(), arguments);
	}

	@Override
	public boolean flattens() {
		return this.method.returnKind() == ReturnKind.RESULT;
	}

	@Override
	public Method method() {
		return this.method.method();
	}

}
