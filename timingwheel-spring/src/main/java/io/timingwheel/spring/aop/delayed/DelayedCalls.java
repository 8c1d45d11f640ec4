package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.support.Deadline;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.TaskDefinition;
import io.timingwheel.spring.task.support.TaskSubmission;
import io.timingwheel.spring.task.support.Transactions;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;

/**
 * Turns the calls of one method into tasks in memory.
 */
final class DelayedCalls implements MethodCalls {

	private final DelayedMethod method;

	private final DelayedTaskRegistry tasks;

	private final InvocationBody body;

	private final TaskDefinition<Object> definition;

	DelayedCalls(DelayedMethod method, DelayedRuntime runtime) {
		this.method = method;
		this.tasks = runtime.tasks();
		this.body = new InvocationBody(method, runtime);
		this.definition = this.tasks.define(method.name(), this.body, runtime.executor(method), method.expireAfter());
	}

	@Override
	public @Nullable Object schedule(MethodInvocation invocation) {
		@Nullable Object[] arguments = invocation.getArguments();
		KeySource keySource = this.method.key();
		Object key = (keySource != null) ? keySource.key(arguments) : null;
		Deadline due = this.method.delay().due(arguments, this.tasks.clock());
		boolean givesResult = this.method.returnKind() == ReturnKind.RESULT;
		TaskSubmission submission = this.tasks.submission(this.definition, key, this.method.ifPending(),
				payload(invocation), givesResult);
		if (this.method.afterCommit() && Transactions.isActive()) {
			return scheduleAfterCommit(submission, due, arguments, givesResult);
		}
		return submission.schedule(due);
	}

	private Object payload(MethodInvocation invocation) {
		return (invocation instanceof ProxyMethodInvocation proxied) ? this.body.payload(invocation, proxied.getProxy())
				: invocation;
	}

	private @Nullable Object scheduleAfterCommit(TaskSubmission submission, Deadline due, @Nullable Object[] arguments,
			boolean givesResult) {
		DelayedTask<?> result = givesResult ? submission.resultOf(due) : null;
		Transactions.afterCompletion(() -> {
			try {
				submission.schedule(this.tasks.clock().restart(due));
			}
			catch (RuntimeException ex) {
				// The transaction is committed: its caller has no use for this.
				if (!submission.fail(ex)) {
					this.body.uncaught(ex, arguments);
				}
			}
		}, submission::abandon);
		return result;
	}

}
