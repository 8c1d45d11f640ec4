package io.timingwheel.spring.actuate;

import java.time.Duration;

import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

/**
 * {@link HealthIndicator} of the wheel: up while it runs and is not too far behind its
 * time. A driver that died or that an executor blocks falls behind.
 */
public class TimingWheelHealthIndicator extends AbstractHealthIndicator {

	private final TimingWheel wheel;

	private final Duration maxLag;

	/**
	 * Creates the indicator.
	 * @param wheel the wheel to check
	 * @param maxLag the lag from which on the wheel is down
	 */
	public TimingWheelHealthIndicator(TimingWheel wheel, Duration maxLag) {
		super("Timing wheel health check failed");
		this.wheel = wheel;
		this.maxLag = maxLag;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		WheelSnapshot wheel = this.wheel.snapshot();
		boolean up = wheel.state() == WheelSnapshot.State.RUNNING && wheel.lag().compareTo(this.maxLag) < 0;
		builder.status(up ? Status.UP : Status.DOWN)
			.withDetail("state", wheel.state())
			.withDetail("pending", wheel.pending())
			.withDetail("lag", wheel.lag())
			.withDetail("maxLag", this.maxLag);
	}

}
