package io.timingwheel.spring.console;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What an action has done.
 *
 * @param affected how many tasks or names it has changed
 * @param skipped how many dead tasks stay dead because their keys have pending tasks
 * @param cursor where the next step begins, {@code null} if nothing remains
 * @param error why the action has done nothing, {@code null} if it was done
 */
@JsonInclude(Include.NON_NULL)
record ActionResult(int affected, int skipped, @Nullable String cursor,
		@Nullable String error) implements OperationResponseBody {

}
