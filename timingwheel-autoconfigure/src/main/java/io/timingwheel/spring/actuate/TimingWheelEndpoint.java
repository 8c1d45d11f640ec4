package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonInclude;
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

	/**
	 * Creates the endpoint.
	 * @param wheel the wheel to show
	 * @param tasks the tasks on the wheel, whose wall clock the endpoint shows
	 */
	public TimingWheelEndpoint(TimingWheel wheel, DelayedTaskRegistry tasks) {
		this.wheel = wheel;
		this.tasks = tasks;
	}

	/**
	 * The state of the wheel.
	 * @return its descriptor
	 */
	@ReadOperation
	public WheelDescriptor wheel() {
		WheelSnapshot wheel = this.wheel.snapshot();
		Duration nextExpiry = wheel.nextExpiry();
		return new WheelDescriptor(wheel.state(), wheel.tick(), wheel.wheelSize(), wheel.shards(), wheel.pending(),
				wheel.scheduled(), wheel.rescheduled(), wheel.fired(), wheel.cancelled(), wheel.returned(),
				wheel.rejected(), wheel.refused(), wheel.wakeUps(), wheel.lag(), wheel.maxLag(),
				(nextExpiry != null) ? this.tasks.clock().now().plus(nextExpiry) : null, wheel.levels());
	}

	/**
	 * The fields of {@link WheelSnapshot}, with the next expiry as an instant.
	 *
	 * @param state whether the wheel runs
	 * @param tick the duration of a tick
	 * @param wheelSize the number of slots per level
	 * @param shards the number of shards
	 * @param pending the number of pending timers
	 * @param scheduled how many timers were accepted
	 * @param rescheduled how many times a timer was moved
	 * @param fired how many hand-overs were accepted
	 * @param cancelled how many timers were cancelled
	 * @param returned how many timers the stop of the wheel returned
	 * @param rejected how many timers were turned away at the limit
	 * @param refused how many hand-overs an executor refused
	 * @param wakeUps how many times the driver was woken
	 * @param lag how far the driver is behind
	 * @param maxLag the longest that expired timers waited for their hand-over
	 * @param nextExpiry when the next timer fires at the earliest, {@code null} if none
	 * is pending
	 * @param levels the levels, the finest first
	 */
	public record WheelDescriptor(WheelSnapshot.State state, Duration tick, int wheelSize, int shards, long pending,
			long scheduled, long rescheduled, long fired, long cancelled, long returned, long rejected, long refused,
			long wakeUps, Duration lag, Duration maxLag, @JsonInclude(Include.ALWAYS) @Nullable Instant nextExpiry,
			List<WheelSnapshot.Level> levels) implements OperationResponseBody {

	}

}
