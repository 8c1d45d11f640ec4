package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.TaskExecutors;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * What the advice needs at calls. The advice is there before these beans may be made, so
 * that it asks for them when it needs them.
 *
 * @param tasks the engine
 * @param durableTasks the engine of durable tasks, gives {@code null} if there is no
 * store
 * @param executors finds executors
 * @param exceptionHandler hears of the exceptions of {@code void} methods
 * @param bean finds a bean by its name
 */
public record DelayedRuntime(Supplier<DelayedTaskRegistry> tasks,
		Supplier<? extends @Nullable DurableTaskManager> durableTasks, Supplier<? extends TaskExecutors> executors,
		Supplier<? extends AsyncUncaughtExceptionHandler> exceptionHandler, Function<String, Object> bean) {

	DurableTaskManager requireDurableTasks() {
		DurableTaskManager tasks = this.durableTasks.get();
		Assert.state(tasks != null, "There is a DelayedTaskStore, but no DurableTaskManager to use it");
		return tasks;
	}

	/**
	 * Where a pending task is to be looked for.
	 * @return the durable tasks, {@code null} for those in memory
	 */
	@Nullable DurableTaskManager storeOf(TaskId taskId) {
		DurableTaskManager durable = this.durableTasks.get();
		if (durable == null || durable.owns(taskId.name())) {
			return durable;
		}
		// A name that is not known here may be that of a method on other nodes.
		DelayedTaskRegistry tasks = this.tasks.get();
		return (tasks.isKnown(taskId.name()) || tasks.isPending(taskId)) ? null : durable;
	}

	/**
	 * Where the bodies of a method run.
	 */
	Supplier<Executor> executor(DelayedMethod method) {
		String name = method.executor();
		return SingletonSupplier
			.of(() -> name.isEmpty() ? this.executors.get().defaultExecutor() : this.executors.get().named(name));
	}

	/**
	 * Tells the handler of an exception that no future can carry.
	 */
	@SuppressWarnings("NullAway") // The parameter is @Nullable Object..., which NullAway
									// misreads.
	void uncaught(Throwable error, Method method, @Nullable Object[] arguments) {
		this.exceptionHandler.get().handleUncaughtException(error, method, arguments);
	}

}
