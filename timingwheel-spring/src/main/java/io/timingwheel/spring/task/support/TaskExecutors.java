package io.timingwheel.spring.task.support;

import java.util.concurrent.Executor;

/**
 * Finds the executors that run the bodies of tasks.
 */
public interface TaskExecutors {

	/**
	 * The executor for tasks that name none.
	 * @return the executor
	 */
	Executor defaultExecutor();

	/**
	 * The executor of a name.
	 * @param nameOrQualifier the name of a bean, or a qualifier
	 * @return the executor
	 * @throws IllegalArgumentException if there is none
	 */
	Executor named(String nameOrQualifier);

}
