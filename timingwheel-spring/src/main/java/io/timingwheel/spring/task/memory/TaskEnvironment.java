package io.timingwheel.spring.task.memory;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

record TaskEnvironment(TimingWheel wheel, TaskClock clock, HandOverExecutors handOvers,
		@Nullable TaskDecorator decorator, @Nullable TaskExecutionInterceptor interceptor, TaskPolicies policies) {

}
