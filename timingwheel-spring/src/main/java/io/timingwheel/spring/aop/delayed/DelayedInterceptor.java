package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The advice for the {@code @Delayed} methods of one bean: submits a call instead of
 * running the body.
 */
final class DelayedInterceptor implements MethodInterceptor {

	private final DelayedMethodRegistry methods;

	private final DelayedRuntime runtime;

	private final String beanName;

	private final Map<Method, MethodInterceptor> tasks = new ConcurrentHashMap<>();

	DelayedInterceptor(DelayedMethodRegistry methods, DelayedRuntime runtime, String beanName) {
		this.methods = methods;
		this.runtime = runtime;
		this.beanName = beanName;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Method method = invocation.getMethod();
		MethodInterceptor tasks = this.tasks.get(method);
		if (tasks == null) {
			tasks = find(invocation);
			this.tasks.put(method, tasks);
		}
		return tasks.invoke(invocation);
	}

	private MethodInterceptor find(MethodInvocation invocation) {
		InvokedMethod invoked = InvokedMethod.of(invocation);
		DelayedMethod method = invoked.find("@Delayed", this.methods.register(invoked.targetClass(), this.beanName));
		return method.durable() ? new DurableMethodTasks(method, this.runtime)
				: new MemoryMethodTasks(method, this.runtime);
	}

}
