/** Makes an element: its tag with classes, its properties or attributes, and its content. */
export function h(tag, properties = {}, ...content) {
	const [name, ...classes] = tag.split(".");
	const element = document.createElement(name);
	element.className = classes.join(" ");
	for (const [key, value] of Object.entries(properties)) {
		if (value === undefined || value === null || value === false) {
			continue;
		}
		if (key in element && !key.startsWith("aria")) {
			element[key] = value;
		}
		else {
			element.setAttribute(key, value);
		}
	}
	element.append(...content.filter((part) => part !== undefined && part !== null && part !== false));
	return element;
}

/** Sets a text only if it differs, which saves a layout. */
export function text(element, value) {
	const next = String(value);
	if (element.textContent !== next) {
		element.textContent = next;
	}
}

/** Sets texts and elements only if the text differs. */
export function words(element, ...parts) {
	if (element.textContent !== parts.map((part) => part.textContent ?? part).join("")) {
		element.replaceChildren(...parts);
	}
}

/** A text that may be written from right to left, which then does not disturb the texts beside it. */
export const isolated = (value) => h("bdi", {}, value);

/**
 * Keeps one child for each item. A child stays the same element as long as its item is there, so that it keeps the focus.
 */
export function list(parent, keyOf, make, update) {
	const known = new Map();
	return (items) => {
		const seen = new Set();
		let at = parent.firstElementChild;
		for (const item of items) {
			const key = keyOf(item);
			seen.add(key);
			let row = known.get(key);
			if (!row) {
				row = make(item);
				known.set(key, row);
			}
			update(row, item);
			if (row === at) {
				at = at.nextElementSibling;
			}
			else {
				parent.insertBefore(row, at);
			}
		}
		for (const [key, row] of known) {
			if (!seen.has(key)) {
				if (row.contains(document.activeElement)) {
					document.getElementById("main").focus({ preventScroll: true });
				}
				row.remove();
				known.delete(key);
			}
		}
	};
}

const plain = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const number = (value) => plain.format(value);
export const compact = (value) => (value < 10_000 ? plain.format(value) : short.format(value));

const UNITS = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1000]];

/** A duration of milliseconds, in at most two units. */
export function duration(ms) {
	const size = Math.abs(ms);
	if (size < 1) {
		return size < 0.0005 ? "0 ms" : `${Number(ms.toPrecision(2))} ms`;
	}
	if (size < 1000) {
		return `${size < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
	}
	if (size < 60_000) {
		return `${(ms / 1000).toFixed(size < 10_000 ? 1 : 0)} s`;
	}
	const unit = UNITS.findIndex(([, length]) => size >= length);
	const [name, length] = UNITS[unit];
	const [minor, fraction] = UNITS[unit + 1];
	const rest = Math.floor((size % length) / fraction);
	return `${ms < 0 ? "-" : ""}${Math.floor(size / length)} ${name}${rest ? ` ${rest} ${minor}` : ""}`;
}

/** When something is due, in words. */
export const due = (ms) => (ms > 0 ? `in ${duration(ms)}` : ms > -1000 ? "now" : `${duration(-ms)} late`);

/** The last time that a browser knows, in the year 275760. */
const END_OF_TIME = 8.64e15;

/** Reads a time of the server. Java writes years beyond 9999 with fewer digits than a browser expects. */
export function instant(iso) {
	const at = Date.parse(iso.replace(/^\+(\d{5})-/, "+0$1-"));
	return Number.isNaN(at) ? (iso.startsWith("-") ? -END_OF_TIME : END_OF_TIME) : at;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
const day = new Intl.DateTimeFormat("en-GB", DAY);
const year = new Intl.DateTimeFormat("en-GB", { ...DAY, year: "numeric" });

/** A time as the clock shows it, with the day and the year if these are others. */
export function time(at) {
	const date = new Date(at);
	const now = new Date();
	return (date.toDateString() === now.toDateString() ? clock : date.getFullYear() === now.getFullYear() ? day : year).format(date);
}

/** A colour of the style sheet. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** A canvas that is as sharp as the screen. Gives its context and its size in CSS pixels. */
export function sharp(canvas) {
	const { clientWidth: width, clientHeight: height } = canvas;
	const scale = devicePixelRatio || 1;
	if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
		canvas.width = Math.round(width * scale);
		canvas.height = Math.round(height * scale);
	}
	const context = canvas.getContext("2d");
	context.setTransform(scale, 0, 0, scale, 0, 0);
	context.clearRect(0, 0, width, height);
	return { context, width, height };
}
