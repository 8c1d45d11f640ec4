package io.timingwheel.spring.autoconfigure;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;

import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.durable.DelayedTaskStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
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

	private final ListableBeanFactory beanFactory;

	StartupMessage(TimingWheel wheel, ListableBeanFactory beanFactory) {
		this.wheel = wheel;
		this.beanFactory = beanFactory;
	}

	@Override
	public void afterSingletonsInstantiated() {
		WheelSnapshot wheel = this.wheel.snapshot();
		String store = store();
		logger.info("Timing wheel runs: tick %s, up to %d levels of %d slots, %d %s, %s".formatted(
				DurationFormatterUtils.print(wheel.tick(), DurationFormat.Style.COMPOSITE), levels(wheel),
				wheel.wheelSize(), wheel.shards(), (wheel.shards() > 1) ? "shards" : "shard",
				store.isEmpty() ? "no store" : "store " + store));
	}

	/**
	 * The class of the store. A lazy store is not created for this message.
	 */
	private String store() {
		return Arrays
			.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, DelayedTaskStore.class, true,
					false))
			.map(this.beanFactory::getType)
			.filter(Objects::nonNull)
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", "));
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
