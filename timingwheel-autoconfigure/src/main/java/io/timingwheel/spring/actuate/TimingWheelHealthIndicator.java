package io.timingwheel.spring.actuate;

import java.time.Duration;

import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.StoredTasks.StoredTaskCounts;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

/**
 * {@link HealthIndicator} of the wheel and the store. The health is up while the wheel
 * runs with a small lag. If there is a store, all parts of the store must also answer,
 * since tasks in a part that does not answer do not run. Dead tasks are shown, but do not
 * make the health down, since only an operator can deal with them. The lag grows while an
 * executor blocks the driver of the wheel, or while the driver fails. If the thread of
 * the wheel has ended, the state of the wheel is stopped.
 *
 * @since 0.1
 */
public class TimingWheelHealthIndicator extends AbstractHealthIndicator {

	private final TimingWheel wheel;

	private final Duration maxLag;

	private final @Nullable StoredTasks storedTasks;

	/**
	 * Creates the indicator of a wheel, which is down from a lag of {@code maxLag}. There
	 * is no store if {@code storedTasks} is {@code null}.
	 */
	public TimingWheelHealthIndicator(TimingWheel wheel, Duration maxLag, @Nullable StoredTasks storedTasks) {
		super("Timing wheel health check failed");
		this.wheel = wheel;
		this.maxLag = maxLag;
		this.storedTasks = storedTasks;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		WheelSnapshot wheel = this.wheel.snapshot();
		boolean up = wheel.state() == WheelSnapshot.State.RUNNING && wheel.lag().compareTo(this.maxLag) < 0;
		builder.status(up ? Status.UP : Status.DOWN)
			.withDetail("state", wheel.state())
			.withDetail("pending", wheel.pending())
			.withDetail("lag", wheel.lag())
			.withDetail("threshold", this.maxLag);
		if (this.storedTasks != null) {
			checkStore(this.storedTasks, builder);
		}
	}

	/** A new request to the store may take long to fail. */
	private static void checkStore(StoredTasks tasks, Health.Builder builder) {
		builder.withDetail("claiming", tasks.node().isClaiming());
		builder.withDetail("dead", tasks.counts().recent().values().stream().mapToLong(StoredTaskCounts::dead).sum());
		StoreNode.Outage outage = tasks.node().outage();
		if (outage == null) {
			builder.withDetail("store", Status.UP.getCode());
			return;
		}
		builder.down(outage.reason())
			.withDetail("store", Status.DOWN.getCode())
			.withDetail("storeDownSince", outage.since());
		if (!outage.missingParts().isEmpty()) {
			builder.withDetail("missingStoreParts", outage.missingParts());
		}
	}

}
