import { millis, seconds } from "./format.js";

/** How far the server's clock is ahead of this one, in milliseconds. */
let ahead = 0;

export function serverTimeIs(now) {
	ahead = Date.parse(now) - Date.now();
}

/**
 * Shows a list, one row for each item. Rows stay the same elements, so that a button
 * keeps the focus while the list is refreshed.
 */
export function list(ul, template, key, update) {
	const rows = new Map();
	return (items) => {
		const gone = new Set(rows.keys());
		items.forEach((item, position) => {
			let row = rows.get(key(item));
			if (!row) {
				row = template.content.firstElementChild.cloneNode(true);
				rows.set(key(item), row);
			}
			gone.delete(key(item));
			update(row, item);
			if (ul.children[position] !== row) {
				ul.insertBefore(row, ul.children[position] ?? null);
			}
		});
		for (const id of gone) {
			rows.get(id).remove();
			rows.delete(id);
		}
	};
}

/** A row that counts down to an instant, or says how it ended. */
export function state(row, { until, within, text, outcome = "" }) {
	row.countdown = until && { until: Date.parse(until), within: millis(within), text };
	row.className = outcome;
	if (!until) {
		row.querySelector(".state").textContent = text;
		row.querySelector(".countdown span").style.transform = "scaleX(0)";
	}
}

/** Moves all countdowns on. */
export function tick() {
	for (const row of document.querySelectorAll("li")) {
		if (row.countdown) {
			const left = Math.max(0, row.countdown.until - Date.now() - ahead);
			row.querySelector(".state").textContent = `${row.countdown.text} in ${seconds(left)}`;
			row.querySelector(".countdown span").style.transform = `scaleX(${left / row.countdown.within})`;
		}
	}
}

export function untilNow(instant) {
	return Date.now() + ahead - Date.parse(instant);
}
