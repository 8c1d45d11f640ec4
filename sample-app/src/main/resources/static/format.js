const DURATION = /^PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?$/;

/** Milliseconds of an ISO-8601 duration as Java writes it: PT1M5.536S, PT-0.5S. */
export function millis(duration) {
	const [, hours = 0, minutes = 0, seconds = 0] = DURATION.exec(duration);
	return ((hours * 60 + +minutes) * 60 + +seconds) * 1000;
}

const UNITS = [["year", 31_557_600_000], ["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1000], ["ms", 1]];

/** A duration to read at a glance: 1.1 min. */
export function duration(ms) {
	if (ms === 0) {
		return "0 ms";
	}
	const [name, size] = UNITS.find(([, size]) => ms >= size) ?? ["µs", 0.001];
	const amount = ms / size;
	const rounded = number(amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount));
	return `${rounded} ${name === "year" && rounded !== "1" ? "years" : name}`;
}

/** The time that is left, without digits that flicker: 8 s. */
export function seconds(ms) {
	return ms < 60_000 ? `${Math.max(0, Math.ceil(ms / 1000))} s` : duration(ms);
}

export function number(value) {
	return value.toLocaleString("en");
}
