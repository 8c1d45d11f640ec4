package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;

import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.support.Deadline;
import io.timingwheel.spring.task.support.TaskClock;
import io.timingwheel.spring.task.support.TaskDefinition;
import io.timingwheel.spring.task.support.TaskSubmission;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;

/**
 * Keeps the calls of one method in memory. The payload of a pending call is its
 * invocation. When the call is due, the invocation proceeds with the next advice. If
 * there is no other advice and all calls go to one object, the payload is only the
 * arguments, which saves 48 bytes.
 */
final class MemoryMethodTasks extends TaskDefinition<Object> implements MethodInterceptor {

	private final DelayedMethod method;

	private final DelayedMethod.Values values;

	private final DelayedRuntime runtime;

	private final TaskClock clock;

	/** The object that all calls go to, if there is only one. */
	private volatile @Nullable Object target;

	MemoryMethodTasks(DelayedMethod method, DelayedRuntime runtime) {
		super(runtime.declare(method), method.name(), runtime.executor(method), method.values().expireAfter());
		this.method = method;
		this.values = method.values();
		this.runtime = runtime;
		this.clock = runtime.tasks().clock();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) {
		@Nullable Object[] arguments = invocation.getArguments();
		Object key = this.method.keyOf(arguments);
		CallTime time = this.method.due(arguments);
		Deadline due = (time.time() != null) ? this.clock.at(time.time()) : this.clock.after(time.requiredDelay());
		TaskSubmission submission = new TaskSubmission(this, key, this.method.annotation().ifPending(),
				this.values.maxWait(), payload(invocation), this.method.givesResult());
		if (this.method.annotation().afterCommit() && Transactions.isActive()) {
			return submission.scheduleAfterCommit(due,
					(ex) -> this.runtime.uncaught(ex, this.method.method(), arguments));
		}
		return submission.schedule(due);
	}

	/**
	 * The part of a call that is kept until the body runs.
	 */
	private Object payload(MethodInvocation invocation) {
		if (this.method.shared() && invocation instanceof ProxyMethodInvocation proxied
				&& proxied.getProxy() instanceof Advised advised && advised.getAdvisorCount() == 1) {
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
	protected @Nullable Object run(Object payload) throws Throwable {
		if (payload instanceof MethodInvocation invocation) {
			return next(invocation).proceed();
		}
		return AopUtils.invokeJoinpointUsingReflection(this.target, this.method.method(), (Object[]) payload);
	}

	/**
	 * The invocation for one attempt. An invocation remembers which advice comes next, so
	 * it can proceed only once.
	 */
	private MethodInvocation next(MethodInvocation invocation) {
		return (isTriedAgain() && invocation instanceof ProxyMethodInvocation proxied) ? proxied.invocableClone()
				: invocation;
	}

	@Override
	protected void handleError(Throwable error, Object payload) {
		if (!this.method.givesResult()) {
			uncaught(error, payload);
		}
	}

	@Override
	protected void handleUnseenError(Throwable error, Object payload) {
		if (this.method.givesResult()) {
			uncaught(error, payload);
		}
	}

	private void uncaught(Throwable error, Object payload) {
		this.runtime.uncaught(error, this.method.method(), (payload instanceof MethodInvocation invocation)
				? invocation.getArguments() : (@Nullable Object[]) payload);
	}

	@Override
	protected boolean flattens() {
		return this.method.givesResult();
	}

	@Override
	protected Method method() {
		return this.method.method();
	}

}
