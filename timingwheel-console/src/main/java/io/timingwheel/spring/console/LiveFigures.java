package io.timingwheel.spring.console;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSlots;
import io.timingwheel.spring.actuate.ForecastDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.CountsDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.NodeDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TotalsDescriptor;
import io.timingwheel.spring.actuate.TimingWheelEndpoint;
import io.timingwheel.spring.actuate.TimingWheelEndpoint.WheelDescriptor;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What the page shows, mostly as the endpoints have it. Only the page reads this, so it
 * may change with each release.
 *
 * @param time the time of the server, in milliseconds since 1970
 * @param application the name of the application, {@code null} if it has none
 * @param acts whether the page may act
 * @param wheel the wheel
 * @param totals the figures of all names together
 * @param names some names, {@code null} if the view shows none
 * @param forecast what falls due, {@code null} if the view does not show it
 * @param name the tasks of a name, {@code null} if the view shows none
 * @param dead the dead tasks of the name, {@code null} if the view shows none
 * @param found the task that was looked for, {@code null} if there is none
 * @param schedules the tasks of the recurring methods, {@code null} if the view shows
 * none
 * @param keyed recurring tasks of other names, {@code null} if the view shows none
 * @param lateness how late tasks have begun, {@code null} if no meter says so
 * @param node this node, {@code null} without a store
 * @param nodes all nodes of the store, {@code null} if the view shows none
 */
@JsonInclude(Include.NON_NULL)
record LiveFigures(long time, @Nullable String application, boolean acts, WheelFigures wheel, TotalsDescriptor totals,
		@Nullable Names names, @Nullable ForecastDescriptor forecast, @Nullable NameTasks name,
		@Nullable DeadDescriptor dead, @Nullable TaskDescriptor found, @Nullable List<TaskDescriptor> schedules,
		@Nullable List<TaskDescriptor> keyed, @Nullable LatenessFigures lateness, @Nullable NodeFigures node,
		@Nullable List<NodeDescriptor> nodes) implements OperationResponseBody {

	/**
	 * The wheel.
	 *
	 * @param wheel its state, as the endpoint {@code timingwheel} shows it
	 * @param now the current tick
	 * @param slots for each level how full each slot is, from 0 to 9, or fewer and wider
	 * slots if there are very many
	 */
	record WheelFigures(@JsonUnwrapped WheelDescriptor wheel, long now, List<String> slots) {

		/** A level is shown with at most this many slots. */
		private static final int SLOTS = 256;

		static WheelFigures of(TimingWheel wheel, DelayedTaskRegistry tasks) {
			WheelDescriptor state = new TimingWheelEndpoint(wheel, tasks).wheel();
			WheelSlots slots = WheelSlots.of(wheel);
			return new WheelFigures(state, slots.tick(),
					slots.levels().stream().map((level) -> shown(level, state.shards())).toList());
		}

		/**
		 * A digit for each slot, or for several slots together if there are too many.
		 */
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

	/**
	 * A page of names of tasks.
	 *
	 * @param total how many names there are
	 * @param matching how many of them match the filter
	 * @param from how many of those that match come before this page
	 * @param rows the names of this page
	 */
	record Names(int total, int matching, int from, List<NameFigures> rows) {

		static Names of(List<NameFigures> all, List<NameFigures> matching, Comparator<NameFigures> order, int from,
				int limit) {
			int start = (from < matching.size()) ? from : 0;
			return new Names(all.size(), matching.size(), start,
					matching.stream().sorted(order).skip(start).limit(limit).toList());
		}

	}

	/**
	 * A name with its figures.
	 *
	 * @param name the name
	 * @param counts the figures of the endpoint {@code delayedtasks}
	 */
	record NameFigures(String name, @JsonUnwrapped CountsDescriptor counts) {

	}

	/**
	 * The tasks of a name.
	 *
	 * @param counts the figures of the name
	 * @param limits the retries and limits of the name, by the labels that the page shows
	 * @param next the tasks that are due first
	 * @param dead the tasks that died last, {@code null} for tasks in memory
	 */
	@JsonInclude(Include.NON_NULL)
	record NameTasks(CountsDescriptor counts, Map<String, String> limits, List<TaskDescriptor> next,
			@Nullable List<TaskDescriptor> dead) {

	}

	/**
	 * How late tasks have begun, in milliseconds.
	 *
	 * @param count how many tasks have begun
	 * @param total the sum of their latenesses
	 * @param max the largest lateness of the last minutes
	 */
	record LatenessFigures(long count, double total, double max) {

	}

	/**
	 * This node of the store.
	 *
	 * @param claiming whether it claims tasks
	 * @param inFlight how many claimed tasks it holds
	 * @param figures what it has done
	 * @param unknown how many pending tasks have no handler here
	 * @param interval how often a node reports. Those of other nodes are assumed to be
	 * the same
	 * @param error what is wrong with the store, {@code null} if it answers
	 */
	@JsonInclude(Include.NON_NULL)
	record NodeFigures(boolean claiming, int inFlight, @JsonUnwrapped StoreNode.Figures figures, long unknown,
			Duration interval, @Nullable String error) {

		static NodeFigures of(StoredTasks tasks) {
			StoreNode node = tasks.node();
			StoreNode.Outage outage = node.outage();
			return new NodeFigures(node.isClaiming(), node.inFlight(), node.figures(), tasks.counts().unknown(),
					node.reportInterval(), (outage != null) ? outage.error().toString() : null);
		}

	}

}
