package io.timingwheel.spring.durable.node;

import java.util.List;

import io.timingwheel.spring.aop.internal.DurableMethod;
import io.timingwheel.spring.durable.payload.MethodPayloads;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Runs the durable tasks of a method on this node. Thread-safe.
 *
 * @param names the name of the method, then its aliases
 * @param missed what becomes of the times of a schedule that have passed without a run
 * @param transactions runs the bodies, {@code null} if tasks are settled after their
 * bodies
 */
public record DurableHandler(List<String> names, DurableMethod method, MethodPayloads payloads, Missed missed,
		@Nullable TransactionalBodies transactions) {

	private static final Log logger = LogFactory.getLog(DurableHandler.class);

	public String name() {
		return this.names.get(0);
	}

	/** {@code false} if the exception handler has thrown an exception itself. */
	public boolean handleError(Throwable error, @Nullable Object[] arguments) {
		try {
			this.method.errorHandler().accept(error, arguments);
			return true;
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn,
					"The exception handler of the task \"%s\" threw an exception itself".formatted(name()), ex);
			return false;
		}
	}

}
