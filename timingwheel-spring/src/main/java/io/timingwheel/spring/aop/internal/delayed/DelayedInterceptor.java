package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The advice for the {@code @Delayed} methods of one bean: submits a call instead of
 * running the body.
 */
final class DelayedInterceptor implements MethodInterceptor {

	private final TaskMethodRegistry methods;

	private final String beanName;

	private final Map<Method, MethodInterceptor> tasks = new ConcurrentHashMap<>();

	DelayedInterceptor(TaskMethodRegistry methods, String beanName) {
		this.methods = methods;
		this.beanName = beanName;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Method method = invocation.getMethod();
		MethodInterceptor tasks = this.tasks.get(method);
		if (tasks == null) {
			tasks = this.methods.tasksOf(this.beanName,
					AnnotatedMethods.mostSpecific(method, AnnotatedMethods.targetClass(invocation)));
			this.tasks.put(method, tasks);
		}
		return tasks.invoke(invocation);
	}

}
