package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.durable.support.DurableHandler;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.task.DelayedTask;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Stores the calls of one method, and lets through those by which stored calls are run.
 */
final class DurableCalls implements MethodCalls {

	private final DelayedMethod method;

	private final DurableTaskManager tasks;

	private final DurableHandler handler;

	DurableCalls(DelayedMethod method, DelayedRuntime runtime) {
		this.method = method;
		this.tasks = runtime.requireDurableTasks();
		this.handler = AnnotatedDurableHandler.register(method, runtime);
	}

	@Override
	public @Nullable Object schedule(MethodInvocation invocation) throws Throwable {
		if (DurableEntry.consume(this.method.name())) {
			return invocation.proceed();
		}
		@Nullable Object[] arguments = invocation.getArguments();
		KeySource keySource = this.method.key();
		Object key = (keySource != null) ? keySource.key(arguments) : null;
		DelayedTask<?> task = this.tasks.enqueue(this.handler, key, this.method.ifPending(),
				this.method.delay().due(arguments), arguments);
		return (this.method.returnKind() == ReturnKind.NOTHING) ? null : task;
	}

}
