import { number, text, time } from "./dom.js";
import { refresh, watch } from "./server.js";
import { dead, name, names, node, now, schedules, task } from "./views.js";

const VIEWS = { now, names, name, task, dead, schedules, node };
const KEPT = 120;
const TICK_MS = 250;

const $ = (id) => document.getElementById(id);

/** What the charts show, one sample for each answer of the server. */
const samples = [];
let earlier;
let ended = new Map();
let rates = new Map();
let view;
let latest;

/** A part of the address, which a user may have typed. */
function decoded(part) {
	try {
		return decodeURIComponent(part);
	}
	catch {
		return part;
	}
}

function open() {
	const [, path = "now", ...rest] = location.hash.split("/");
	const make = Object.hasOwn(VIEWS, path) ? VIEWS[path] : now;
	view?.close?.();
	view = make(...rest.map(decoded));
	latest = undefined;
	$("main").replaceChildren(view.element);
	document.title = `${view.title} · timingwheel`;
	for (const link of document.querySelectorAll("nav a")) {
		const current = link.hash === `#/${path === "name" || path === "task" ? "names" : path}` || (!location.hash && link.hash === "#/now");
		link.toggleAttribute("aria-current", current);
		if (current) {
			link.setAttribute("aria-current", "page");
		}
	}
	scrollTo(0, 0);
}

/** Rates come from two readings of the server's counters. */
function sample(figures) {
	const { time: at, totals, wheel, lateness } = figures;
	const seconds = earlier ? (at - earlier.at) / 1000 : 0;
	const rate = (key) => (seconds > 0 && totals[key] >= earlier.totals[key] ? (totals[key] - earlier.totals[key]) / seconds : undefined);
	if (!earlier || seconds > 0.2) {
		const begun = lateness && earlier?.lateness ? lateness.count - earlier.lateness.count : 0;
		samples.push({
			completed: rate("completed"),
			failed: rate("failed"),
			late: lateness ? begun > 0 ? (lateness.total - earlier.lateness.total) / begun : undefined : wheel.lag
		});
		samples.splice(0, samples.length - KEPT);
		earlier = { at, totals, lateness };
	}
	for (const row of figures.names?.rows ?? []) {
		const count = row.completed + row.failed;
		const before = ended.get(row.name);
		if (before && at - before.at > 200 && count >= before.count) {
			rates.set(row.name, (count - before.count) * 1000 / (at - before.at));
		}
		if (!before || at - before.at > 200) {
			ended.set(row.name, { at, count });
		}
	}
}

open();
watch(() => view.query(), ({ figures, asked, error, since, back }) => {
	document.body.classList.toggle("away", Boolean(error));
	$("lost").hidden = !error;
	if (error) {
		const { message, silent, status } = error;
		const lasts = `since ${time(since)}. This page goes on asking.`;
		text($("state-text"), silent ? "No answer" : status === 401 ? "Signed out" : status ? `Error ${status}` : "Page error");
		text($("lost"), silent ? `The server has not answered ${lasts}` : status === 401 ? message
			: status ? `${message} So it is ${lasts}` : `This page cannot show the answer (${message}). So it is ${lasts}`);
		earlier = undefined;
		return;
	}
	text($("state-text"), back ? "Live again" : "Live");
	text($("application"), figures.application ?? "");
	$("access").hidden = figures.acts;
	$("dead-badge").hidden = figures.totals.dead === 0;
	text($("dead-badge"), number(figures.totals.dead));
	sample(figures);
	const wanted = view.query();
	if (["view", "name", "find"].every((key) => asked[key] === wanted[key])) {
		view.update({ figures, asked, samples, rates: (key) => rates.get(key) });
	}
});

setInterval(() => document.hidden || view.tick?.(), TICK_MS);
addEventListener("hashchange", () => {
	open();
	$("main").focus({ preventScroll: true });
	refresh();
});
