package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.time.Instant;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * {@code GET /actuator/timingwheel}: the wheel's settings, counters and levels.
 *
 * @since 0.1
 */
@Endpoint(id = "timingwheel")
public class TimingWheelEndpoint {

	private final TimingWheel wheel;

	private final DelayedTaskRegistry tasks;

	/** Creates the endpoint of a wheel, whose tasks have the wall clock. */
	public TimingWheelEndpoint(TimingWheel wheel, DelayedTaskRegistry tasks) {
		this.wheel = wheel;
		this.tasks = tasks;
	}

	@ReadOperation
	public WheelDescriptor wheel() {
		WheelSnapshot wheel = this.wheel.snapshot();
		Duration nextExpiry = wheel.nextExpiry();
		return new WheelDescriptor(wheel, (nextExpiry != null) ? this.tasks.clock().now().plus(nextExpiry) : null);
	}

	/**
	 * The fields of {@link WheelSnapshot}, with the next expiry as an instant.
	 *
	 * @param nextExpiry when the next timer fires at the earliest, {@code null} if none
	 * is pending
	 */
	public record WheelDescriptor(@JsonUnwrapped @JsonIgnoreProperties("nextExpiry") WheelSnapshot wheel,
			@JsonInclude(Include.ALWAYS) @Nullable Instant nextExpiry) implements OperationResponseBody {

	}

}
