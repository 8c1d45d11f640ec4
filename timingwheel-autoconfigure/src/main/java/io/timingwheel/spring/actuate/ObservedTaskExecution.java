package io.timingwheel.spring.actuate;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.internal.FutureCompletion;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecution.Body;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * Observes each execution of a delayed task. If there is a tracer, the execution is a
 * child of the span in which the task was scheduled. The execution of a durable task
 * begins a new trace with a link to that span ({@link LinkedTraces}). A pending task does
 * not keep the observation in which it was scheduled, since the context of an observation
 * may hold a request and its response.
 *
 * <p>
 * If the body returns a future, the execution is observed until the future is done. The
 * handle of another delayed task is no such future, since that task has an observation of
 * its own.
 *
 * <p>
 * The order is 0. Interceptors with a lower order are outside of the observation. All
 * other interceptors are inside of the observation, also those without an order.
 *
 * @since 0.1
 */
public class ObservedTaskExecution implements TaskExecution.Interceptor, Ordered {

	private static final Log logger = LogFactory.getLog(ObservedTaskExecution.class);

	/**
	 * Read at the start of the application: two threads that use Micrometer's no-op scope
	 * and its interface for the first time at once wait for each other for ever.
	 */
	private static final Observation.Scope NO_SCOPE = Observation.Scope.NOOP;

	private final AtomicBoolean warned = new AtomicBoolean();

	private final DelayedTaskObservationConvention defaultConvention = new DefaultDelayedTaskObservationConvention();

	private final ObservationRegistry registry;

	private final @Nullable DelayedTaskObservationConvention convention;

	private final @Nullable TaskTraces traces;

	/**
	 * Creates an observer, with the default convention and without traces where these are
	 * {@code null}.
	 */
	public ObservedTaskExecution(ObservationRegistry registry, @Nullable DelayedTaskObservationConvention convention,
			@Nullable TaskTraces traces) {
		this.registry = registry;
		this.convention = convention;
		this.traces = traces;
	}

	@Override
	public int getOrder() {
		return 0;
	}

	@Override
	public @Nullable String traceparent() {
		return (this.traces != null) ? this.traces.traceparent() : null;
	}

	@Override
	public @Nullable Object intercept(TaskExecution execution, Body body) throws Throwable {
		DelayedTaskObservationContext context = new DelayedTaskObservationContext(execution);
		Observation observation = start(context);
		Object result;
		try {
			result = run(body, observation);
		}
		catch (Throwable ex) {
			end(observation, context, ex);
			throw ex;
		}
		if (result instanceof DelayedTask<?> || !FutureCompletion.whenDone(result, ForkJoinPool.commonPool(),
				(value, error) -> end(observation, context, error))) {
			end(observation, context, null);
		}
		return result;
	}

	/** If the convention or a predicate throws, the execution has no observation. */
	private Observation start(DelayedTaskObservationContext context) {
		Observation observation;
		try {
			observation = Observation.createNotStarted(this.convention, this.defaultConvention, () -> context,
					this.registry);
		}
		catch (Throwable ex) {
			failed(ex);
			return Observation.NOOP;
		}
		TaskTraces traces = this.traces;
		String parent = context.getExecution().parentTrace();
		attempt((traces != null) ? () -> traces.within(parent, observation::start) : observation::start);
		return observation;
	}

	/** If a handler throws, the scope may be open nevertheless. */
	private @Nullable Object run(Body body, Observation observation) throws Throwable {
		Observation.Scope outer = this.registry.getCurrentObservationScope();
		attempt(observation::openScope);
		Observation.Scope opened = this.registry.getCurrentObservationScope();
		Observation.Scope scope = (opened != null && opened != outer) ? opened : NO_SCOPE;
		try {
			return body.run();
		}
		finally {
			attempt(scope::close);
			this.registry.setCurrentObservationScope(outer);
		}
	}

	private void end(Observation observation, DelayedTaskObservationContext context, @Nullable Throwable error) {
		Throwable cause = FutureCompletion.unwrapped(error);
		if (cause == null) {
			context.setComplete(true);
		}
		else {
			attempt(() -> observation.error(cause));
		}
		attempt(observation::stop);
	}

	/** The exceptions of handlers and conventions say nothing about the task. */
	private void attempt(Runnable call) {
		try {
			call.run();
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	private void failed(Throwable ex) {
		UserErrors.warnOnce(logger, this.warned, "The observation of a delayed task threw an exception", ex);
	}

}
