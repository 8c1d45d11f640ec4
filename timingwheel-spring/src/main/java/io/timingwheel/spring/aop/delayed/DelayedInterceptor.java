package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.aop.AnnotatedMethods;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;

/**
 * The advice for the {@code @Delayed} methods of one bean: submits a call instead of
 * running the body.
 */
final class DelayedInterceptor implements MethodInterceptor {

	private final DelayedMethodRegistry methods;

	private final DelayedRuntime runtime;

	private final String beanName;

	private final Map<Method, MethodTasks> tasks = new ConcurrentHashMap<>();

	DelayedInterceptor(DelayedMethodRegistry methods, DelayedRuntime runtime, String beanName) {
		this.methods = methods;
		this.runtime = runtime;
		this.beanName = beanName;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Method method = invocation.getMethod();
		MethodTasks tasks = this.tasks.get(method);
		if (tasks == null) {
			tasks = find(invocation);
			this.tasks.put(method, tasks);
		}
		return tasks.submit(invocation);
	}

	private MethodTasks find(MethodInvocation invocation) {
		Class<?> targetClass = targetClass(invocation);
		Method specific = AnnotatedMethods.mostSpecific(invocation.getMethod(), targetClass);
		DelayedMethod method = this.methods.register(targetClass, this.beanName).get(specific);
		if (method == null) {
			throw new IllegalStateException("No @Delayed on " + specific);
		}
		return method.durable() ? DurableMethodTasks.register(method, this.runtime)
				: new MemoryMethodTasks(method, this.runtime);
	}

	/**
	 * The class of the target of an invocation.
	 */
	static Class<?> targetClass(MethodInvocation invocation) {
		Object target = invocation.getThis();
		return (target != null) ? AopUtils.getTargetClass(target) : invocation.getMethod().getDeclaringClass();
	}

}
