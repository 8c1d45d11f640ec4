package io.timingwheel.spring.autoconfigure;

import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Logs once, at the start of the application, that the wheel runs, with its settings and
 * the store of durable tasks.
 */
class StartupMessage implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(TimingWheelAutoConfiguration.class);

	private final TimingWheel wheel;

	private final ObjectProvider<StoredTasks> storedTasks;

	StartupMessage(TimingWheel wheel, ObjectProvider<StoredTasks> storedTasks) {
		this.wheel = wheel;
		this.storedTasks = storedTasks;
	}

	@Override
	public void afterSingletonsInstantiated() {
		WheelSnapshot wheel = this.wheel.snapshot();
		logger.info("Timing wheel runs: tick %s, up to %d levels of %d slots, %d %s, %s".formatted(
				DurationFormatterUtils.print(wheel.tick(), DurationFormat.Style.COMPOSITE), levels(wheel),
				wheel.wheelSize(), wheel.shards(), (wheel.shards() > 1) ? "shards" : "shard", store()));
	}

	private String store() {
		StoredTasks tasks = this.storedTasks.getIfAvailable();
		return (tasks != null) ? "store " + tasks.node().storeName() : "no store";
	}

	/**
	 * The number of levels that the longest delay needs. The wheel creates them as
	 * needed.
	 */
	private static int levels(WheelSnapshot wheel) {
		int bits = Long.SIZE - Long.numberOfLeadingZeros(Long.MAX_VALUE / wheel.tick().toNanos());
		int bitsPerLevel = Integer.numberOfTrailingZeros(wheel.wheelSize());
		return (bits + bitsPerLevel - 1) / bitsPerLevel;
	}

}
