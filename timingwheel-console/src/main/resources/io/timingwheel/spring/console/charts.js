import { colour, duration, h, isolated, number, sharp, text, time, words } from "./dom.js";

const KEPT = 120;
const FONT = "11px system-ui, sans-serif";

/** A chart of the last two minutes. A series is a name, a colour and a function that gives the value of a sample. */
export function chart(title, series, format) {
	const canvas = h("canvas.chart", { role: "img" });
	const now = h("span.small");
	const element = h("section.panel", { "aria-label": title },
		h("div.title", {}, h("h2", {}, title), now), canvas, h("figcaption", {}, h("span", {}, "2 min ago"), h("span", {}, "now")));
	return { element, draw };

	function draw(samples) {
		const { context, width, height } = sharp(canvas);
		const shown = samples.slice(-KEPT);
		const top = nice(Math.max(series[0].least, ...shown.flatMap((sample) => series.map(({ value }) => value(sample) ?? 0))));
		const y = (value) => height - 2 - (height - 18) * Math.min(1, value / top);
		const x = (index) => width - (shown.length - 1 - index) * width / (KEPT - 1);
		context.strokeStyle = colour("--line");
		context.lineWidth = 1;
		for (const part of [0, 0.5, 1]) {
			const line = Math.round(y(top * part)) + 0.5;
			context.beginPath();
			context.moveTo(0, line);
			context.lineTo(width, line);
			context.stroke();
		}
		context.font = FONT;
		context.fillStyle = colour("--quiet");
		context.fillText(format(top), 0, 11);
		series.forEach(({ value, ink, fill }) => {
			context.beginPath();
			let from = null;
			let last = null;
			shown.forEach((sample, index) => {
				const at = value(sample);
				if (at === undefined) {
					return;
				}
				from ??= index;
				last = index;
				context.lineTo(x(index), y(at));
			});
			if (from === null) {
				return;
			}
			context.strokeStyle = colour(ink);
			context.lineWidth = 1.75;
			context.lineJoin = "round";
			context.stroke();
			if (fill) {
				context.lineTo(x(last), y(0));
				context.lineTo(x(from), y(0));
				context.globalAlpha = 0.14;
				context.fillStyle = colour(ink);
				context.fill();
				context.globalAlpha = 1;
			}
		});
		const last = shown.findLast((sample) => series[0].value(sample) !== undefined);
		const values = last ? series.map(({ name, value }) => `${name} ${format(value(last))}`).join(" · ") : "";
		text(now, values);
		canvas.setAttribute("aria-label", `${title}: ${values}; top of the scale ${format(top)}`);
	}
}

/** The next round number. */
function nice(value) {
	const size = 10 ** Math.floor(Math.log10(value));
	return [1, 2, 5, 10].find((step) => step * size >= value * 0.999) * size;
}

const LABEL = 150;
const NARROW_LABEL = 96;
const AXIS = 20;

/** The heat map: a row for each name, a column for each span of the time ahead. */
export function heatMap() {
	const canvas = h("canvas.heat", { tabIndex: 0, role: "img", "aria-describedby": "heat-readout" });
	const readout = h("output.small", { id: "heat-readout" });
	let map;
	let cursor;
	canvas.addEventListener("pointermove", (event) => {
		if (map?.rows.length) {
			const { rows, label, cell, row } = map;
			const column = Math.floor((event.offsetX - label) / cell);
			const line = Math.floor(event.offsetY / row);
			point(column >= 0 && line < rows.length ? { column, line } : undefined);
		}
	});
	canvas.addEventListener("pointerleave", () => point(undefined));
	canvas.addEventListener("keydown", (event) => {
		const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
		if (move && map?.rows.length) {
			event.preventDefault();
			const at = cursor ?? { column: 0, line: 0 };
			const within = (value, end) => Math.max(0, Math.min(end - 1, value));
			point({
				column: within(at.column + (cursor ? move[0] : 0), map.columns),
				line: within(at.line + (cursor ? move[1] : 0), map.rows.length)
			});
		}
	});
	canvas.addEventListener("blur", () => point(undefined));
	return { element: h("div.stack", {}, canvas, readout), draw };

	function point(next) {
		cursor = next;
		draw(map?.forecast);
	}

	function draw(forecast) {
		if (!forecast) {
			return;
		}
		const rows = Object.entries(forecast.tasks).map(([name, due]) => ({ name, ...due }));
		const row = 24;
		canvas.style.height = `${Math.max(1, rows.length) * row + AXIS}px`;
		const { context, width, height } = sharp(canvas);
		const label = width < 480 ? NARROW_LABEL : LABEL;
		const columns = 60;
		const cell = (width - label) / columns;
		map = { forecast, rows, columns, label, cell, row };
		const most = Math.max(1, ...rows.flatMap(({ counts }) => counts));
		const at = (column) => Date.parse(forecast.from) + column * forecast.span;
		context.font = "12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
		context.textBaseline = "middle";
		rows.forEach(({ name, counts }, line) => {
			context.globalAlpha = 1;
			context.fillStyle = colour("--ink");
			context.fillText(fit(context, name, label - 10), 0, line * row + row / 2);
			context.fillStyle = colour("--soft");
			context.fillRect(label, line * row + 1, width - label, row - 3);
			context.fillStyle = colour("--heat");
			counts.forEach((count, column) => {
				if (count > 0) {
					context.globalAlpha = 0.18 + 0.82 * Math.log1p(count) / Math.log1p(most);
					context.fillRect(label + column * cell, line * row + 1, Math.max(1, cell - 1), row - 3);
				}
			});
		});
		context.globalAlpha = 1;
		context.font = FONT;
		context.fillStyle = colour("--quiet");
		context.textBaseline = "alphabetic";
		const marks = width < 480 ? 2 : 4;
		for (let mark = 0; mark <= marks; mark++) {
			context.textAlign = mark === 0 ? "left" : mark === marks ? "right" : "center";
			context.fillText(mark === 0 ? "now" : `+${duration(columns * forecast.span * mark / marks)}`,
				label + (width - label) * mark / marks, height - 4);
		}
		context.textAlign = "left";
		if (cursor && cursor.line < rows.length && cursor.column < columns) {
			context.strokeStyle = colour("--ink");
			context.lineWidth = 1.5;
			context.strokeRect(label + cursor.column * cell, cursor.line * row + 1, cell, row - 3);
			const { name, counts } = rows[cursor.line];
			words(readout, isolated(name), `: ${number(counts[cursor.column] ?? 0)} due ${time(at(cursor.column))} to ${time(at(cursor.column + 1))}`);
		}
		else {
			const total = rows.reduce((sum, { counts }) => sum + counts.reduce((a, b) => a + b, 0), 0);
			text(readout, total ? `${number(total)} fall due within ${duration(columns * forecast.span)}, at most ${number(most)} of a name in ${duration(forecast.span)}`
				: `Nothing falls due within ${duration(columns * forecast.span)}`);
		}
		canvas.setAttribute("aria-label", "Heat map of the tasks that fall due. Move with the arrow keys.");
	}
}

function fit(context, name, width) {
	if (context.measureText(name).width <= width) {
		return name;
	}
	let end = name.length;
	while (end > 1 && context.measureText(`${name.slice(0, end)}…`).width > width) {
		end--;
	}
	return `${name.slice(0, end)}…`;
}
