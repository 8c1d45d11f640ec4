package io.timingwheel.spring.console;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSlots;
import io.timingwheel.spring.actuate.TimingWheelEndpoint;
import io.timingwheel.spring.actuate.TimingWheelEndpoint.WheelDescriptor;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.CountsDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ForecastDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TotalsDescriptor;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

import static io.timingwheel.spring.actuate.internal.TaskDescriptors.MASK;

/**
 * What the page shows, mostly as the endpoints have it. Only the page reads this, so it
 * may change with each release. What a view does not show is {@code null}.
 */
record LiveFigures(long time, @Nullable String application, boolean acts, WheelFigures wheel, TotalsDescriptor totals,
		@Nullable Names names, @Nullable ForecastDescriptor forecast, @Nullable NameTasks name,
		@Nullable DeadDescriptor dead, @Nullable TaskDescriptor found, @Nullable List<TaskDescriptor> schedules,
		@Nullable List<TaskDescriptor> keyed, @Nullable LatenessFigures lateness, @Nullable NodeFigures node,
		@Nullable List<StoreNode.Reported> nodes) implements OperationResponseBody {

	record WheelFigures(@JsonUnwrapped WheelDescriptor wheel, long now, List<String> slots) {

		/** A level is shown with at most this many slots. */
		private static final int SLOTS = 256;

		static WheelFigures of(TimingWheel wheel, DelayedTaskRegistry tasks) {
			WheelDescriptor state = new TimingWheelEndpoint(wheel, tasks).wheel();
			WheelSlots slots = WheelSlots.of(wheel);
			return new WheelFigures(state, slots.tick(),
					slots.levels().stream().map((level) -> shown(level, state.wheel().shards())).toList());
		}

		/** A digit for each slot, or for several slots together if there are too many. */
		private static String shown(List<Integer> slots, int shards) {
			int width = Math.max(1, slots.size() / SLOTS);
			StringBuilder digits = new StringBuilder();
			for (int from = 0; from < slots.size(); from += width) {
				int most = IntStream.range(from, from + width).map(slots::get).max().orElse(0);
				digits.append(Math.min(9, (9 * most + shards - 1) / shards));
			}
			return digits.toString();
		}

	}

	record Names(int total, int matching, int from, List<NameFigures> rows) {

		static Names of(List<NameFigures> all, Predicate<NameFigures> filter, Comparator<NameFigures> order, int from,
				int limit) {
			List<NameFigures> matching = all.stream().filter(filter).sorted(order).toList();
			int start = (from < matching.size()) ? from : 0;
			return new Names(all.size(), matching.size(), start, matching.stream().skip(start).limit(limit).toList());
		}

	}

	record NameFigures(String name, @JsonUnwrapped CountsDescriptor counts) {

	}

	record NameTasks(CountsDescriptor counts,
			@JsonInclude(content = Include.NON_NULL) Map<String, @Nullable Object> limits, List<TaskDescriptor> next,
			@Nullable List<TaskDescriptor> dead) {

	}

	/** How late tasks have begun, in milliseconds, by the meters of the application. */
	record LatenessFigures(long count, double total, double max) {

		static @Nullable LatenessFigures of(MeterRegistry registry) {
			Collection<Timer> timers = registry.find("timingwheel.tasks.lateness").timers();
			return timers.isEmpty() ? null
					: new LatenessFigures(timers.stream().mapToLong(Timer::count).sum(),
							timers.stream().mapToDouble((timer) -> timer.totalTime(TimeUnit.MILLISECONDS)).sum(),
							timers.stream().mapToDouble((timer) -> timer.max(TimeUnit.MILLISECONDS)).max().orElse(0));
		}

	}

	record NodeFigures(boolean claiming, int inFlight, @JsonUnwrapped StoreNode.Figures figures, long unknown,
			Duration interval, @Nullable String error) {

		static NodeFigures of(StoredTasks tasks, boolean showErrors) {
			StoreNode node = tasks.node();
			StoreNode.Outage outage = node.outage();
			return new NodeFigures(node.isClaiming(), node.inFlight(), node.figures(), tasks.counts().unknown(),
					node.reportInterval(), (outage == null) ? null : showErrors ? outage.reason().toString() : MASK);
		}

	}

}
