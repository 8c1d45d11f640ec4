package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The advice for the {@code @Delayed} methods of one bean: submits a call instead of
 * running the body.
 */
final class DelayedInterceptor implements MethodInterceptor {

	private final TaskMethodRegistry methods;

	private final TaskRuntime runtime;

	private final String beanName;

	private final Map<Method, MethodInterceptor> tasks = new ConcurrentHashMap<>();

	DelayedInterceptor(TaskMethodRegistry methods, TaskRuntime runtime, String beanName) {
		this.methods = methods;
		this.runtime = runtime;
		this.beanName = beanName;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Method method = invocation.getMethod();
		MethodInterceptor tasks = this.tasks.get(method);
		if (tasks == null) {
			tasks = find(InvokedMethod.of(invocation));
			this.tasks.put(method, tasks);
		}
		return tasks.invoke(invocation);
	}

	private MethodInterceptor find(InvokedMethod invoked) {
		this.methods.read(invoked.targetClass(), this.beanName);
		TaskMethod method = this.methods.find(this.beanName, invoked.method());
		Assert.state(method != null, () -> "No @Delayed on " + invoked.method());
		Runnable end = () -> {
		};
		return method.durable() ? new DurableTasks(method, this.runtime, end)
				: new MemoryTasks(method, this.runtime, end);
	}

}
