package io.timingwheel.sample.drivers;

import java.time.Duration;
import java.util.Locale;

import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;

import org.springframework.stereotype.Component;

/** Many drivers at once, to see the wheel fill and empty. */
@Component
class Fleet {

	private final DriverService drivers;

	private final DelayedTaskOperations tasks;

	Fleet(DriverService drivers, DelayedTaskOperations tasks) {
		this.drivers = drivers;
		this.tasks = tasks;
	}

	/**
	 * Sends one heartbeat for each of a number of drivers.
	 * @param count the number of drivers
	 * @param spread the time over which the heartbeats are spread evenly
	 */
	void sendHeartbeats(int count, Duration spread) {
		for (int i = 0; i < count; i++) {
			String driverId = String.format(Locale.ROOT, "van-%05d", i + 1);
			Duration delay = spread.multipliedBy(i).dividedBy(count);
			if (delay.isZero()) {
				this.drivers.heartbeat(driverId);
			}
			else {
				// The template, because each driver has a delay of its own.
				this.tasks.schedule(TaskId.of("fleet-heartbeat", driverId), delay,
						() -> this.drivers.heartbeat(driverId));
			}
		}
	}

}
