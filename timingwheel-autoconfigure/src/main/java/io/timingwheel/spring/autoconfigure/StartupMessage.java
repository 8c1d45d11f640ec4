package io.timingwheel.spring.autoconfigure;

import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.durable.DelayedTaskStore;
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

	private final ObjectProvider<DelayedTaskStore> store;

	StartupMessage(TimingWheel wheel, ObjectProvider<DelayedTaskStore> store) {
		this.wheel = wheel;
		this.store = store;
	}

	@Override
	public void afterSingletonsInstantiated() {
		WheelSnapshot wheel = this.wheel.snapshot();
		DelayedTaskStore store = this.store.getIfAvailable();
		logger.info("Timing wheel runs: tick %s, up to %d levels of %d slots, %d %s, %s".formatted(
				DurationFormatterUtils.print(wheel.tick(), DurationFormat.Style.COMPOSITE), levels(wheel),
				wheel.wheelSize(), wheel.shards(), (wheel.shards() > 1) ? "shards" : "shard",
				(store != null) ? "store " + store.getClass().getSimpleName() : "no store"));
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
