import { duration, millis, number, seconds } from "./format.js";
import { list, untilNow } from "./rows.js";

const SAMPLES = 120;
const SAMPLE_MS = 500;

const $ = (id) => document.getElementById(id);

/** The pending timers of each level, for each of the last samples. */
const history = Array.from({ length: SAMPLES + 1 }, () => []);

let sampledAt = 0;

/** Shows what /actuator/timingwheel says. */
export function showWheel(wheel) {
	$("wheel-settings").textContent = `${wheel.wheelSize} slots a level, ${wheel.shards} ${wheel.shards === 1 ? "shard" : "shards"}`;
	$("pending").textContent = number(wheel.pending);
	$("next").textContent = wheel.nextExpiry ? `· the next is due ${due(-untilNow(wheel.nextExpiry))}` : "· the wheel sleeps";
	for (const total of ["fired", "cancelled", "rescheduled", "wakeUps"]) {
		$(total).textContent = number(wheel[total]);
	}
	for (const lag of ["lag", "maxLag"]) {
		$(lag).textContent = duration(millis(wheel[lag]));
	}
	const slots = wheel.wheelSize * wheel.shards;
	const peak = showChart(wheel);
	showLevels(wheel.levels.map((level) => ({ ...level, slots, peak })));
}

const showLevels = list($("levels"), $("level-row"), (level) => level.level, (row, level) => {
	row.dataset.level = level.level;
	row.querySelector("th").textContent = level.level;
	row.querySelector(".tick").textContent = duration(millis(level.tick));
	row.querySelector(".span").textContent = duration(millis(level.span));
	fill(row.querySelector(".pending"), level.pending, level.peak);
	row.querySelector(".pending .count").textContent = number(level.pending);
	fill(row.querySelector(".slots"), level.occupiedSlots, level.slots);
	row.querySelector(".slots .count").textContent = `${number(level.occupiedSlots)} of ${number(level.slots)}`;
	const meter = row.querySelector("[role=meter]");
	meter.setAttribute("aria-label", `Slots in use in level ${level.level}`);
	meter.setAttribute("aria-valuenow", level.occupiedSlots);
	meter.setAttribute("aria-valuemax", level.slots);
});

function due(ms) {
	return ms < 1000 ? "now" : `in ${seconds(ms)}`;
}

function fill(cell, part, whole) {
	cell.querySelector(".bar span").style.width = `${100 * part / whole}%`;
}

/** Draws the last minute, level upon level, and returns the top of its scale. */
function showChart(wheel) {
	const sample = [];
	wheel.levels.forEach((level) => sample[level.level] = level.pending);
	if (performance.now() - sampledAt > SAMPLE_MS * 0.9) {
		sampledAt = performance.now();
		history.shift();
		history.push(sample);
	}
	const sum = (sample) => sample.reduce((a, b) => a + b, 0);
	const peak = Math.max(10, ...history.map(sum));
	const levels = Math.max(...history.map((sample) => sample.length));
	const base = history.map(() => 0);
	$("chart").replaceChildren(...Array.from({ length: levels }, (_, level) => {
		const point = (height, x) => `${x},${(100 - 100 * height / peak).toFixed(2)}`;
		const below = base.map(point).reverse();
		history.forEach((sample, x) => base[x] += sample[level] ?? 0);
		const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
		path.dataset.level = level;
		path.setAttribute("d", `M${base.map(point).join("L")}L${below.join("L")}Z`);
		return path;
	}));
	$("chart").setAttribute("aria-label", `Pending tasks over the last minute: ${number(wheel.pending)} now, ${number(peak)} at the top of the scale`);
	$("peak").textContent = number(peak);
	return peak;
}

/** Shows what /actuator/delayedtasks says. */
export function showTasks({ tasks }) {
	$("tasks").replaceChildren(...Object.entries(tasks).map(([name, counts]) => {
		const row = document.createElement("tr");
		const head = document.createElement("th");
		head.scope = "row";
		head.textContent = name;
		row.append(head);
		for (const count of ["pending", "running", "completed", "failed", "cancelled"]) {
			row.insertCell().textContent = number(counts[count]);
		}
		return row;
	}));
}
