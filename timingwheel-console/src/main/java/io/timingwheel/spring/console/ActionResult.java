package io.timingwheel.spring.console;

import io.timingwheel.spring.actuate.internal.TaskDescriptors.ErrorDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ResultDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.StepDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

record ActionResult(int affected, int skipped, @Nullable String cursor,
		@Nullable String error) implements OperationResponseBody {

	static ActionResult of(WebEndpointResponse<?> response) {
		if (response.getBody() instanceof ErrorDescriptor body) {
			return new ActionResult(0, 0, null, body.error());
		}
		return (response.getBody() instanceof ResultDescriptor body && body.result() instanceof StepDescriptor step)
				? new ActionResult(step.affected(), step.skipped(), step.remaining() ? step.cursor() : null, null)
				: new ActionResult(1, 0, null, null);
	}

	ActionResult plus(ActionResult next) {
		return new ActionResult(this.affected + next.affected, this.skipped + next.skipped, next.cursor, next.error);
	}

}
