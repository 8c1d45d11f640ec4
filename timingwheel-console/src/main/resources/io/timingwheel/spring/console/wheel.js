import { calm, colour, compact, duration, h, number, sharp, text } from "./dom.js";

const FRAME_MS = 33;
const CASCADE_MS = 900;
const FIRE_MS = 450;
const TURN = 2 * Math.PI;
const LEVELS = 4;

/**
 * Draws the wheel: the finest level inside, a ring of slots for each level. Between two snapshots the hands move on by the
 * clock. When a hand reaches a filled slot, the slot empties: the finest level fires, the others cascade to the level inside.
 */
export function wheelView() {
	const canvas = h("canvas.wheel", { role: "img" });
	const key = h("ul.key");
	const words = h("p.small.quiet");
	const element = h("section.panel.wheel-panel", { "aria-label": "The wheel" },
		h("div.title", {}, h("h2", {}, "The wheel"), words), canvas, key,
		h("p.small.quiet", {}, "The inner ring is the next turn, each ring outside a longer one. Where a hand meets a filled slot, the slot fires, or cascades into the ring inside."));
	let wheel;
	let takenAt = 0;
	let levels = [];
	let flights = [];
	let drawnAt = 0;
	let colours;
	let frame;
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colours = undefined);
	return { element, show, stop: () => cancelAnimationFrame(frame) };

	function show(next) {
		wheel = next;
		takenAt = performance.now();
		levels = wheel.levels.slice(0, LEVELS).map((level, index) => ({
			...level,
			slots: [...wheel.slots[index] ?? ""].map(Number),
			at: slotAt(wheel.now, index),
			hand: levels[index]?.hand ?? slotAt(wheel.now, index)
		}));
		text(words, wheel.state === "RUNNING" ? wheel.nextExpiry ? "" : "Nothing pending: it sleeps" : "Stopped");
		key.replaceChildren(...levels.map((level, index) => h(`li.k${index}`, {
			title: `${number(level.occupiedSlots)} filled slots of ${duration(level.tick)}`
		}, `${compact(level.pending)} within ${duration(level.span)}`)));
		canvas.setAttribute("aria-label", `${number(wheel.pending)} pending. ${levels.map((level, index) =>
			`Level ${index}: ${number(level.pending)} in slots of ${duration(level.tick)}`).join(". ")}`);
		cancelAnimationFrame(frame);
		frame = requestAnimationFrame(turn);
	}

	/** The slot of a tick, among the slots that are shown. */
	function slotAt(tick, level) {
		const slot = Math.floor(tick / wheel.wheelSize ** level) % wheel.wheelSize;
		return Math.floor(slot * shown(level) / wheel.wheelSize);
	}

	function shown(level) {
		return wheel.slots[level]?.length || wheel.wheelSize;
	}

	function turn(now) {
		frame = requestAnimationFrame(turn);
		if (now - drawnAt < (calm.matches ? 1000 : FRAME_MS) || !canvas.clientWidth) {
			return;
		}
		drawnAt = now;
		if (wheel.state === "RUNNING") {
			advance(now);
		}
		draw(now);
	}

	/** Empties the slots that the hands have passed. */
	function advance(now) {
		const tick = wheel.now + Math.min(now - takenAt, 5000) / wheel.tick;
		levels.forEach((level, index) => {
			const count = level.slots.length;
			const to = slotAt(tick, index);
			for (let steps = 0; level.at !== to && steps < count; steps++) {
				level.at = (level.at + 1) % count;
				if (level.slots[level.at]) {
					flights.push({ level: index, slot: level.at, from: now, weight: level.slots[level.at] });
					level.slots[level.at] = 0;
					level.hand = level.at;
				}
			}
			if (index > 0) {
				level.hand = level.at;
			}
		});
		flights = flights.filter(({ level, from }) => now - from < (level ? CASCADE_MS : FIRE_MS));
	}

	function draw(now) {
		colours ??= {
			levels: Array.from({ length: LEVELS }, (_, level) => colour(`--level-${level}`)),
			line: colour("--line"), ink: colour("--ink"), quiet: colour("--quiet")
		};
		const { context, width, height } = sharp(canvas);
		context.translate(width / 2, height / 2);
		const outer = Math.min(width, height) / 2 - 4;
		const inner = outer * 0.32;
		const band = (outer - inner) / Math.max(2, levels.length);
		const radius = (level) => inner + band * (level + 0.5);
		const angle = (slot, count) => TURN * slot / count - TURN / 4;
		levels.forEach((level, index) => {
			const count = level.slots.length;
			const middle = radius(index);
			const thick = band * 0.7;
			context.lineWidth = thick;
			context.globalAlpha = 0.5;
			context.strokeStyle = colours.line;
			context.beginPath();
			context.arc(0, 0, middle, 0, TURN);
			context.stroke();
			context.strokeStyle = colours.levels[index];
			for (let weight = 1; weight <= 9; weight++) {
				context.globalAlpha = 0.35 + 0.65 * weight / 9;
				context.beginPath();
				level.slots.forEach((filled, slot) => {
					if (filled === weight) {
						const from = angle(slot, count);
						const to = angle(slot + 0.86, count);
						context.moveTo(middle * Math.cos(from), middle * Math.sin(from));
						context.arc(0, 0, middle, from, to);
					}
				});
				context.stroke();
			}
		});
		fly(context, now, radius, band, angle);
		levels.forEach((level, index) => {
			const at = angle(level.hand + 0.5, level.slots.length);
			const [from, to] = [radius(index) - band * 0.42, radius(index) + band * 0.42];
			context.globalAlpha = 1;
			context.strokeStyle = colours.ink;
			context.lineWidth = 2;
			context.lineCap = "round";
			context.beginPath();
			context.moveTo(from * Math.cos(at), from * Math.sin(at));
			context.lineTo(to * Math.cos(at), to * Math.sin(at));
			context.stroke();
			context.lineCap = "butt";
		});
		context.globalAlpha = 1;
		context.textAlign = "center";
		context.fillStyle = colours.ink;
		context.font = `600 ${Math.round(inner * 0.42)}px system-ui, sans-serif`;
		context.fillText(compact(wheel.pending), 0, inner * 0.1);
		context.fillStyle = colours.quiet;
		context.font = `${Math.max(10, Math.round(inner * 0.17))}px system-ui, sans-serif`;
		context.fillText("on the wheel", 0, inner * 0.36);
	}

	/** Timers on their way: a slot of a higher level spreads over the level inside, a slot of the finest one flies to the middle. */
	function fly(context, now, radius, band, angle) {
		for (const { level, slot, from, weight } of flights) {
			const part = (now - from) / (level ? CASCADE_MS : FIRE_MS);
			const eased = 1 - (1 - part) ** 3;
			const count = levels[level]?.slots.length;
			if (!count) {
				continue;
			}
			const middle = angle(slot + 0.5, count);
			const target = level ? radius(level - 1) : radius(0) - band;
			const at = radius(level) + (target - radius(level)) * eased;
			const spread = level ? 0.012 + 0.22 * eased : 0.012;
			context.globalAlpha = (1 - part) * (0.5 + weight / 18);
			context.strokeStyle = colours.levels[level ? level - 1 : 0];
			context.lineWidth = Math.max(2, band * (level ? 0.34 : 0.5) * (1 - 0.8 * eased));
			context.beginPath();
			context.arc(0, 0, Math.max(1, at), middle - spread * Math.PI, middle + spread * Math.PI);
			context.stroke();
		}
	}
}
