package io.timingwheel.spring.autoconfigure;

import java.lang.annotation.Annotation;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.autoconfigure.internal.OnTimingWheelEnabled;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Warns once of the beans whose annotations have no effect, because timingwheel is
 * switched off. Their delayed bodies run as soon as they are called.
 */
class DisabledAnnotationsWarning implements AnnotatedMethodScanner.Reader {

	private static final Log logger = LogFactory.getLog(TimingWheelDisabledAutoConfiguration.class);

	private static final int MAX_NAMES = 10;

	private final List<AnnotatedMethods<? extends Annotation>> annotations = List.of(
			new AnnotatedMethods<>(Delayed.class), new AnnotatedMethods<>(CancelDelayed.class),
			new AnnotatedMethods<>(Timeout.class), new AnnotatedMethods<>(Recurring.class));

	private final Set<String> beans = new TreeSet<>();

	@Override
	public void read(Class<?> beanClass, String beanName) {
		if (this.annotations.stream().anyMatch((annotation) -> !annotation.of(beanClass).isEmpty())) {
			this.beans.add(beanName);
		}
	}

	@Override
	public void resolveWithBeans() {
		if (this.beans.isEmpty()) {
			return;
		}
		String names = this.beans.stream().limit(MAX_NAMES).collect(Collectors.joining(", "));
		int others = this.beans.size() - MAX_NAMES;
		logger.warn(
				("%s is false: @Delayed, @CancelDelayed and @Timeout have no effect, and @Recurring methods do not run by"
						+ " themselves. The methods of these beans run at once when they are called: %s%s")
					.formatted(OnTimingWheelEnabled.PROPERTY, names,
							(others > 0) ? " and %d more".formatted(others) : ""));
	}

}
