package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.util.Objects;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.internal.DurableMethod.Store.CallTime;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.memory.TaskClock;
import io.timingwheel.spring.task.memory.TaskClock.Deadline;
import io.timingwheel.spring.task.memory.TaskDefinition;
import io.timingwheel.spring.task.memory.TaskSubmission;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;

/**
 * Keeps the calls or the runs of one method in memory. The payload of a pending call is
 * its invocation. If there is no other advice and all calls go to one object, the payload
 * is only the arguments, which saves 48 bytes. So it is for a recurring method.
 */
final class MemoryTaskInterceptor extends TaskDefinition implements MethodInterceptor {

	private static final Object[] NO_ARGUMENTS = {};

	private final TaskMethod method;

	private final TaskMethod.Values values;

	private final TaskRuntime runtime;

	private final TaskClock clock;

	// Read once, since each call of an annotation's method goes through a proxy.

	private final IfPending ifPending;

	private final boolean afterCommit;

	private final boolean shared;

	/** The object that all calls go to, if there is only one. */
	private volatile @Nullable Object target;

	MemoryTaskInterceptor(TaskMethod method, TaskRuntime runtime) {
		super(runtime.declare(method), method.name(), runtime.executor(method), method.values().expireAfter());
		this.method = method;
		this.values = method.values();
		this.runtime = runtime;
		this.clock = runtime.tasks().clock();
		this.ifPending = method.recurring() ? IfPending.REPLACE : method.delayed().ifPending();
		this.afterCommit = !method.recurring() && method.delayed().afterCommit();
		this.shared = runtime.isShared(method.beanName());
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) {
		@Nullable Object[] arguments = invocation.getArguments();
		Object key = this.method.keyOf(arguments);
		CallTime time = this.method.due(arguments);
		Deadline due = (time.time() != null) ? this.clock.at(time.time()) : this.clock.after(time.delay());
		TaskSubmission submission = new TaskSubmission(this, key, this.ifPending, this.values.maxWait(),
				payload(invocation), this.method.givesResult());
		if (this.afterCommit && Transactions.isActive()) {
			return submission.scheduleAfterCommit(due);
		}
		return submission.schedule(due);
	}

	private Object payload(MethodInvocation invocation) {
		if (this.shared && invocation instanceof ProxyMethodInvocation proxied
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

	void recur() {
		if (this.method.recurring()) {
			TaskSubmission.repeat(this, TaskMethodRegistry.RECURRING_KEY, IfPending.REPLACE, NO_ARGUMENTS,
					Objects.requireNonNull(this.values.schedule()), ((Recurring) this.method.annotation()).missed(),
					this.values.delay());
		}
	}

	@Override
	protected @Nullable Object run(Object payload) throws Throwable {
		if (payload instanceof MethodInvocation invocation) {
			return next(invocation).proceed();
		}
		return this.method.recurring() ? this.runtime.invoke(this.method, NO_ARGUMENTS)
				: AopUtils.invokeJoinpointUsingReflection(this.target, method(), (Object[]) payload);
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
		this.runtime.uncaught(error, method(), (payload instanceof MethodInvocation invocation)
				? invocation.getArguments() : (@Nullable Object[]) payload);
	}

	@Override
	protected boolean showsErrors() {
		return !this.method.recurring() && this.method.givesResult();
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
