package io.timingwheel.spring.console;

import java.util.Comparator;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.timingwheel.spring.actuate.TaskDescriptors.CountsDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TotalsDescriptor;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What the page shows. Durations are in milliseconds, and times in milliseconds since
 * 1970. Only the page reads this, so it may change with each release.
 *
 * @param time the time of the server
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
		@Nullable Names names, @Nullable ForecastFigures forecast, @Nullable NameTasks name,
		@Nullable DeadDescriptor dead, @Nullable TaskDescriptor found, @Nullable List<TaskDescriptor> schedules,
		@Nullable List<TaskDescriptor> keyed, @Nullable LatenessFigures lateness, @Nullable NodeFigures node,
		@Nullable List<OneNode> nodes) implements OperationResponseBody {

	/**
	 * The wheel.
	 *
	 * @param running whether it runs
	 * @param size the number of slots per level
	 * @param shards the number of shards
	 * @param pending how many timers are pending
	 * @param scheduled how many were accepted
	 * @param moved how many times a timer was moved
	 * @param fired how many were handed over
	 * @param cancelled how many were cancelled
	 * @param refused how many hand-overs an executor refused
	 * @param rejected how many timers were not accepted at the limit
	 * @param wakeUps how many times the driver woke up
	 * @param lag how far the driver is behind
	 * @param maxLag the longest time that timers waited for their hand-over
	 * @param next how long until the next timer fires, {@code null} if none is pending
	 * @param tick the duration of a tick
	 * @param now the current tick
	 * @param levels the levels, the finest first
	 */
	@JsonInclude(Include.NON_NULL)
	record WheelFigures(boolean running, int size, int shards, long pending, long scheduled, long moved, long fired,
			long cancelled, long refused, long rejected, long wakeUps, double lag, double maxLag, @Nullable Double next,
			double tick, long now, List<LevelFigures> levels) {

	}

	/**
	 * A level of the wheel.
	 *
	 * @param tick the duration of a slot
	 * @param pending how many timers are in its slots
	 * @param occupied how many slots hold timers
	 * @param slots how full each slot is, from 0 to 9, or fewer and wider slots if there
	 * are very many
	 */
	record LevelFigures(double tick, long pending, int occupied, String slots) {

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
	 * What falls due.
	 *
	 * @param from when the first span begins
	 * @param span the length of a span
	 * @param columns the number of spans
	 * @param names the names with the most tasks in this time
	 */
	record ForecastFigures(long from, double span, int columns, List<NameForecast> names) {

	}

	/**
	 * What falls due of a name.
	 *
	 * @param name the name
	 * @param counts how many tasks fall due in each span; fewer counts than spans if it
	 * would have taken too long to count the others
	 * @param estimated whether the counts are estimated from a sample
	 */
	record NameForecast(String name, List<Long> counts, boolean estimated) {

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
	 * How late tasks have begun.
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
	 * @param claims how many times it has claimed
	 * @param claimed how many tasks it has claimed
	 * @param retried how many failures led to another attempt
	 * @param released how many tasks it has given back
	 * @param lostLeases how many leases have ended before their tasks were settled
	 * @param unknown how many pending tasks have no handler here
	 * @param error what is wrong with the store, {@code null} if it answers
	 */
	@JsonInclude(Include.NON_NULL)
	record NodeFigures(boolean claiming, int inFlight, long claims, long claimed, long retried, long released,
			long lostLeases, long unknown, @Nullable String error) {

	}

	/**
	 * A node of the store.
	 *
	 * @param id its id
	 * @param mine whether it is the node that answers
	 * @param claiming whether it claims tasks
	 * @param held how many claimed tasks it holds
	 * @param age how long ago it has reported this
	 * @param silent whether it has probably ended, since it should have reported again
	 */
	record OneNode(String id, boolean mine, boolean claiming, int held, double age, boolean silent) {

	}

}
