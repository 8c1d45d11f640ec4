package io.timingwheel.spring.aop.delayed;

import java.util.function.Supplier;

import io.timingwheel.spring.task.DelayedTasks;
import io.timingwheel.spring.task.TaskExecutors;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;

/**
 * What the advice needs at calls. The advice is there before these beans may be made, so
 * that it asks for them when it needs them.
 *
 * @param tasks the engine
 * @param executors finds executors
 * @param exceptionHandler hears of the exceptions of {@code void} methods
 */
public record DelayedRuntime(Supplier<DelayedTasks> tasks, Supplier<? extends TaskExecutors> executors,
		Supplier<? extends AsyncUncaughtExceptionHandler> exceptionHandler) {

}
