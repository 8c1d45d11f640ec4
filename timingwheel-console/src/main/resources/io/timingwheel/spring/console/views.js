import { chart, heatMap } from "./charts.js";
import { compact, due, duration, h, instant, isolated, list, number, text, time, words } from "./dom.js";
import { act, refresh, serverNow } from "./server.js";
import { wheelView } from "./wheel.js";

const $ = (id) => document.getElementById(id);
const RANGES = [["PT1M", "1 min"], ["PT10M", "10 min"], ["PT1H", "1 h"], ["P1D", "1 day"], ["P7D", "7 days"]];

/** Says how an action went. */
let outcomeTimer;
export function say(...parts) {
	words($("outcome"), ...parts);
	clearTimeout(outcomeTimer);
	outcomeTimer = setTimeout(() => text($("outcome"), ""), 6000);
}

async function attempt(request, done) {
	try {
		const result = await act(request);
		say(...[typeof done === "function" ? done(result) : done].flat());
		return result;
	}
	catch (error) {
		say(error.message);
		return undefined;
	}
}

/** Asks the user. Gives the text of the field, or true without a field, or nothing if the user goes back. */
function confirm({ title, about, label, value, button, danger }) {
	words($("dialog-title"), ...[title].flat());
	words($("dialog-text"), ...[about ?? ""].flat());
	$("dialog-field").hidden = !label;
	text($("dialog-field").firstElementChild, label ?? "");
	$("dialog-input").value = value ?? "";
	text($("dialog-do"), button);
	$("dialog-do").classList.toggle("danger", Boolean(danger));
	$("dialog").returnValue = "";
	$("dialog").showModal();
	(label ? $("dialog-input") : $("dialog-do")).focus();
	return new Promise((resolve) => $("dialog").addEventListener("close", () =>
		resolve($("dialog").returnValue === "do" ? (label ? $("dialog-input").value.trim() : true) : undefined), { once: true }));
}

/** Enter in the field means the action, not the way back. */
$("dialog-input").addEventListener("keydown", (event) => {
	if (event.key === "Enter") {
		event.preventDefault();
		$("dialog-do").click();
	}
});

function panel(title, ...content) {
	const heading = h("h2", {}, title);
	const bar = h("div.title", {}, heading);
	return Object.assign(h("section.panel", { "aria-label": title }, bar, ...content), { bar, heading });
}

function table(caption, columns) {
	const body = h("tbody");
	const element = h("div.scroll", { tabIndex: 0, role: "region", "aria-label": caption },
		h("table", {}, h("caption.unseen", {}, caption),
			h("thead", {}, h("tr", {}, ...columns.map(([name, classes]) => h(`th${classes ?? ""}`, { scope: "col" }, name)))), body));
	return { element, body, caption: (words) => {
		element.querySelector("caption").className = "";
		text(element.querySelector("caption"), words);
	} };
}

const nameLink = (name) => h("a", { href: `#/name/${encodeURIComponent(name)}` }, isolated(name));
const taskAddress = (name, id) => `#/task/${encodeURIComponent(name)}/${encodeURIComponent(id)}`;

/** Buttons that turn the pages of names. */
function pager() {
	let from = 0;
	let step = 0;
	const turn = (label, next) => h("button", { type: "button", onclick: () => {
		from = Math.max(0, next());
		refresh();
	} }, label);
	const [earlier, later] = [turn("Earlier names", () => from - step), turn("Later names", () => from + step)];
	const element = h("p.buttons", { hidden: true }, earlier, later);
	return {
		element,
		from: () => from,
		first: () => from = 0,
		update(names) {
			const { matching, rows } = names;
			step = names.from + rows.length < matching ? rows.length : step || rows.length;
			earlier.disabled = names.from === 0;
			later.disabled = names.from + rows.length >= matching;
			element.hidden = earlier.disabled && later.disabled;
			return element.hidden ? "" : `${number(names.from + 1)} to ${number(names.from + rows.length)} of ${number(matching)}`;
		}
	};
}

function figure(cell, value) {
	text(cell, compact(value));
	cell.title = number(value);
	cell.classList.toggle("zero", value === 0);
}

/** What happens now. */
export function now() {
	let range = "PT1H";
	const figures = h("dl.panel.figures");
	const cells = {};
	for (const [key, label] of [["pending", "Pending"], ["running", "Running"], ["rate", "Ended per second"], ["late", "Lateness"],
		["overdue", "Overdue"], ["failed", "Failed"], ["dead", "Dead"]]) {
		cells[key] = h("dd");
		figures.append(h("div", {}, h("dt", {}, label), cells[key]));
	}
	const heat = heatMap();
	const choice = h("div.choice", { role: "group", "aria-label": "How far ahead" }, ...RANGES.map(([value, label]) =>
		h("button", { type: "button", "aria-pressed": String(value === range), onclick: (event) => {
			range = value;
			[...choice.children].forEach((button) => button.setAttribute("aria-pressed", String(button === event.target)));
			refresh();
		} }, label)));
	const future = panel("What falls due", heat.element);
	future.bar.append(choice);
	future.hidden = true;
	const rates = chart("Executions", [
		{ name: "completed", ink: "--level-1", fill: true, least: 1, value: (sample) => sample.completed },
		{ name: "failed", ink: "--bad", value: (sample) => sample.failed }
	], (value) => `${value < 10 ? Number(value.toFixed(1)) : compact(Math.round(value))}/s`);
	const late = chart("Lateness", [
		{ name: "mean", ink: "--level-2", fill: true, least: 1, value: (sample) => sample.late }
	], duration);
	const wheel = wheelView();
	const names = nameTable("Those with dead or overdue tasks come first, then those with the most pending");
	const element = h("div.now", {}, figures,
		h("div.stack", {}, future, h("div.pair", {}, rates.element, late.element), panel("Names that want attention", names.element)),
		wheel.element);
	return {
		element,
		title: "Now",
		query: () => ({ view: "now", range }),
		update({ figures: live, samples, rates: rateOf }) {
			const { totals } = live;
			for (const key of ["pending", "running", "overdue", "failed", "dead"]) {
				text(cells[key], compact(totals[key]));
				cells[key].title = number(totals[key]);
			}
			cells.dead.className = totals.dead ? "bad" : "";
			cells.overdue.className = totals.overdue ? "warn" : "";
			const sample = samples.at(-1);
			text(cells.rate, sample?.completed === undefined ? "–" : compact(Math.round(sample.completed + sample.failed)));
			const mean = samples.findLast(({ late: value }) => value !== undefined)?.late;
			cells.late.replaceChildren(mean === undefined ? "–" : duration(mean), " ",
				h("small", {}, `max ${duration(live.lateness?.max ?? live.wheel.maxLag)}`));
			future.hidden = !live.forecast;
			heat.draw(live.forecast);
			rates.draw(samples);
			late.draw(samples);
			names.update(live.names.rows, live, rateOf);
			wheel.show(live.wheel);
		},
		close: wheel.stop
	};
}

/** A table of names with their figures. */
function nameTable(caption) {
	const columns = ["pending", "running", "overdue", "rate", "completed", "failed", "cancelled", "dead"];
	const wide = new Set(["completed", "cancelled", "rate"]);
	const { element, body, caption: say } = table(caption, [["Name"], ["Pending"], ["Running"], ["Overdue"], ["Per second", ".wide"],
		["Completed", ".wide"], ["Failed"], ["Cancelled", ".wide"], ["Dead"]]);
	const show = list(body, (row) => row.name, (row) => h("tr", {}, h("th", { scope: "row" }, nameLink(row.name), " ",
		row.durable && h("span.tag.wide", { title: "Its tasks are stored" }, "stored"), h("span.tag.warn", { hidden: true }, "paused")),
		...columns.map((key) => h(wide.has(key) ? "td.wide" : "td"))), (element, row) => {
		element.cells[0].querySelector(".warn").hidden = !row.paused;
		columns.forEach((key, index) => {
			const cell = element.cells[index + 1];
			if (key === "rate") {
				text(cell, row.rate === undefined ? "–" : Number(row.rate.toFixed(row.rate < 10 ? 1 : 0)));
			}
			else {
				figure(cell, row[key]);
			}
			cell.classList.toggle("bad", key === "dead" && row.dead > 0);
			cell.classList.toggle("warn", key === "overdue" && row.overdue > 0);
		});
	});
	return { element, caption: say, update: (rows, live, rateOf) => show(rows.map((row) => ({ ...row, rate: rateOf(row.name) }))) };
}

/** All names. */
export function names() {
	const pages = pager();
	const anew = () => {
		pages.first();
		refresh();
	};
	const filter = h("input", { type: "search", id: "filter", oninput: anew, autocomplete: "off", spellcheck: false });
	const sort = h("select", { id: "sort", onchange: anew }, ...[["attention", "Wants attention"], ["name", "Name"], ["pending", "Pending"],
		["running", "Running"], ["failed", "Failed"], ["dead", "Dead"]].map(([value, label]) => h("option", { value }, label)));
	const shown = nameTable("All names");
	const element = panel("Names", shown.element, pages.element);
	element.bar.append(h("label", { htmlFor: "filter" }, "Filter"), filter, h("label", { htmlFor: "sort" }, "Order by"), sort);
	return {
		element,
		title: "Names",
		query: () => ({ view: "names", filter: filter.value.trim(), sort: sort.value, from: pages.from() }),
		update({ figures, rates }) {
			const { total, matching, rows } = figures.names;
			shown.update(rows, figures, rates);
			const part = pages.update(figures.names);
			shown.caption(part ? `${part} names` : `${number(matching)} of ${number(total)} names`);
		}
	};
}

const MOVES = "30s, 5m, 2h or PT1H30M";

/** One name, its tasks and its dead. */
export function name(chosen) {
	let wanted = "";
	const pause = h("span.buttons");
	const counts = h("dl.panel.figures");
	const cells = {};
	for (const key of ["pending", "waiting", "running", "overdue", "completed", "failed", "cancelled", "expired", "dead"]) {
		cells[key] = h("dd");
		counts.append(h("div", {}, h("dt", {}, key[0].toUpperCase() + key.slice(1)), cells[key]));
	}
	const key = h("input", { id: "key", type: "search", autocomplete: "off", spellcheck: false });
	const found = taskTable("The task that you looked for");
	const missing = h("p.empty", { role: "status", hidden: true });
	const find = panel("Find by key or id", h("form.find", { onsubmit: (event) => {
		event.preventDefault();
		wanted = key.value.trim();
		missing.hidden = true;
		refresh();
	} }, h("label", { htmlFor: "key" }, "Key or id"), key, h("button", { type: "submit" }, "Find")), missing, found.element);
	found.element.hidden = true;
	const next = taskTable("The next ones due");
	const none = h("p.empty", {}, "None is pending.");
	const pending = panel("Due next", next.element, none);
	const dead = deadPanel(() => chosen);
	const died = taskTable("The tasks that died last", true);
	const deaths = panel("Died last", died.element);
	const title = h("h2.mono", {}, chosen);
	const tags = h("span.buttons");
	const element = h("div.stack", {}, h("div.title", {}, h("span", {}, h("a", { href: "#/names" }, "Names"), " / "), title, tags, pause),
		counts, find, dead.element, deaths, pending);
	element.firstChild.firstChild.style.marginRight = "0";
	title.style.marginRight = "auto";
	return {
		element,
		title: chosen,
		query: () => ({ view: "name", name: chosen, find: wanted, cursor: dead.cursor() }),
		update({ figures, asked }) {
			const described = figures.name;
			if (!described) {
				text(none, "There is no such name.");
				return;
			}
			for (const [field, cell] of Object.entries(cells)) {
				const value = described.counts[field];
				cell.parentElement.hidden = value === undefined;
				text(cell, compact(value ?? 0));
				cell.title = number(value ?? 0);
			}
			cells.dead.className = described.counts.dead ? "bad" : "";
			tags.replaceChildren(...Object.entries(described.limits).map(([label, value]) => h("span.tag", {}, `${label}: ${value}`)),
				h("span.tag", {}, described.counts.durable ? "stored" : "in memory"));
			const { paused } = described.counts;
			if (pause.dataset.paused !== String(paused)) {
				pause.dataset.paused = paused;
				pause.replaceChildren(...(paused === undefined ? [] : [paused && h("span.tag.warn", {}, "paused"), figures.acts && h("button", {
					type: "button", onclick: () => attempt({ action: paused ? "resume" : "pause", name: chosen }, [isolated(chosen), ` is ${paused ? "resumed" : "paused"}.`])
				}, paused ? "Resume" : "Pause")].filter(Boolean)));
			}
			next.update(described.next, figures);
			next.element.hidden = described.next.length === 0;
			none.hidden = described.next.length > 0;
			found.update(figures.found ? [figures.found] : [], figures);
			found.element.hidden = !figures.found;
			missing.hidden = !asked.find || Boolean(figures.found);
			words(missing, ...(asked.find ? ["No pending, running or dead task has the key or id “", isolated(asked.find), "”."] : []));
			dead.update(figures, asked);
			died.update(described.dead ?? [], figures);
			deaths.hidden = !described.dead?.length;
		},
		tick() {
			next.tick();
			found.tick();
		}
	};
}

/** Keeps the buttons for what one can do to a task. */
function showActions(buttons, task, label) {
	const state = task.state ?? "PENDING";
	const kind = !task.acts ? "" : state === "DEAD" ? "dead" : state === "RUNNING" ? "" : "pending";
	buttons.task = task;
	if (buttons.dataset.kind !== kind) {
		buttons.dataset.kind = kind;
		const make = (name, action) => h("button", { type: "button", "aria-label": `${name} ${label}`, onclick: () => action(buttons.task) }, name);
		buttons.replaceChildren(...(kind === "pending" ? [make("Run now", runNow), make("Move", move), make("Cancel", cancel)]
			: kind === "dead" ? [make("Requeue", requeue), make("Delete", cancel)] : []));
	}
}

/** Tasks with the times when they are due, or when they died, and what one can do to them. */
function taskTable(caption, died) {
	const { element, body } = table(caption, [["Key"], [died ? "Died" : "Due", ".text"], ["State", ".text.wide"], ["Attempt", ".wide"], ["Actions"]]);
	const show = list(body, (task) => task.id, (task) => h("tr", {},
		h("th", { scope: "row" }, h("a", { href: taskAddress(task.name, task.id), title: `id ${task.id}` })),
		h("td.text"), h("td.text.wide"), h("td.wide"), h("td", {}, h("div.buttons")))
	, (row, task) => {
		const label = task.key ?? task.id;
		const state = task.state ?? "PENDING";
		words(row.cells[0].firstChild, isolated(label));
		row.at = instant(died ? task.diedAt ?? task.dueAt : task.dueAt);
		row.state = state;
		const more = task.schedule ?? task.error?.replace(/^(\w+\.)+/, "").slice(0, 60);
		words(row.cells[2], state.toLowerCase(), ...(more ? [" · ", isolated(more)] : []));
		row.cells[2].title = task.error ?? "";
		text(row.cells[3], task.attempt ?? "");
		showActions(row.lastChild.firstChild, task, label);
	});
	const tick = () => {
		for (const row of body.rows) {
			text(row.cells[1], row.state === "PENDING" ? due(row.at - serverNow()) : time(row.at));
			row.cells[1].title = new Date(row.at).toISOString();
		}
	};
	return {
		element,
		tick,
		update(tasks, live) {
			show(tasks.map((task) => ({ ...task, acts: live.acts })));
			tick();
		}
	};
}

/** One task, with its whole error. */
export function task(name, id) {
	const facts = h("dl.facts");
	const buttons = h("div.buttons");
	const error = h("pre.error", { tabIndex: 0, dir: "auto" });
	const about = panel("Task", facts);
	const failure = panel("Last error", error);
	const none = h("p.empty", { role: "status", hidden: true }, "There is no such task any more: it has ended, or it was cancelled or deleted.");
	about.bar.append(buttons);
	about.hidden = failure.hidden = true;
	return {
		element: h("div.stack", {}, h("div.title", {}, h("span", {}, h("a", { href: "#/names" }, "Names"), " / ", nameLink(name), " / ", isolated(id))),
			none, about, failure),
		title: `${name} ${id}`,
		query: () => ({ view: "task", name, find: id }),
		update({ figures }) {
			const { found, acts } = figures;
			none.hidden = Boolean(found);
			about.hidden = !found;
			failure.hidden = !found?.error;
			if (!found) {
				return;
			}
			const at = (iso) => iso && `${time(instant(iso))} (${new Date(instant(iso)).toISOString()})`;
			const entries = [["Key", found.key], ["Id", found.id], ["State", (found.state ?? "PENDING").toLowerCase()],
				["Died", at(found.diedAt)], [found.diedAt ? "Was due" : "Due", at(found.dueAt)], [found.diedAt ? "Attempts" : "Attempt", found.attempt],
				["Times begun", found.deliveries], ["Schedule", found.schedule], ["Then", at(found.next)]];
			facts.replaceChildren(...entries.filter(([, value]) => value !== undefined && value !== null).map(([label, value]) =>
				h("div", {}, h("dt", {}, label), h("dd", {}, isolated(String(value))))));
			text(error, found.error ?? "");
			showActions(buttons, { ...found, acts }, found.key ?? found.id);
		}
	};
}

/** The id means the task that is shown, also if its key has another task by now. */
const of = (task) => ({ name: task.name, task: task.id });
const called = (task) => isolated(`${task.name} ${task.key ?? task.id}`);

function runNow(task) {
	return attempt({ action: "run", ...of(task) }, [called(task), " runs now."]);
}

async function move(task) {
	const delay = await confirm({
		title: ["Move ", called(task)], about: `It is due ${due(instant(task.dueAt) - serverNow())}.`,
		label: `Due from now, as ${MOVES}`, value: "5m", button: "Move"
	});
	if (delay) {
		await attempt({ action: "reschedule", ...of(task), delay }, [called(task), ` is due in ${delay}.`]);
	}
}

async function cancel(task) {
	const dead = task.state === "DEAD";
	if (await confirm({
		title: [dead ? "Delete " : "Cancel ", called(task), "?"], about: dead ? "The dead task is deleted." : "The task will not run.",
		button: dead ? "Delete" : "Cancel the task", danger: true
	})) {
		await attempt({ action: "cancel", ...of(task) }, [called(task), ` is ${dead ? "deleted" : "cancelled"}.`]);
	}
}

function requeue(task) {
	return attempt({ action: "requeue", ...of(task) }, [called(task), " is pending again."]);
}

/** The dead tasks of a name by their errors. */
function deadPanel(nameOf) {
	const { element: scroll, body } = table("The latest first", [["Error", ".text"], ["Tasks"], ["First", ".wide"], ["Last"], ["Actions"]]);
	const bar = h("span.buttons");
	const progress = h("span", { role: "status", hidden: true });
	const partial = h("span.small.quiet");
	let cursor;
	const turn = (label, next) => h("button", { type: "button", onclick: () => {
		cursor = next();
		refresh();
	} }, label);
	let older;
	const [latest, further] = [turn("Latest", () => undefined), turn("Older", () => older)];
	const pages = h("p.buttons", { hidden: true }, partial, latest, further);
	const element = panel("Dead by error", progress, scroll, pages);
	element.bar.append(bar);
	element.hidden = true;
	let busy = false;
	let total = 0;
	let partly = false;
	const show = list(body, (group) => group.group, (group) => {
		const row = h("tr");
		const button = (label, action) => h("button", { type: "button", "aria-label": `${label} the tasks with the error ${group.error.slice(0, 60)}`,
			onclick: () => many(action, row.group) }, label);
		row.append(h("td.wrap", {}, isolated(group.error), " ", h("a", {}, "Open the latest")), h("td"), h("td.wide"), h("td"), h("td", {}, h("div.buttons", { hidden: !group.acts },
			button("Requeue", "requeue-dead"), button("Delete", "delete-dead"))));
		return row;
	}, (row, group) => {
		row.group = group;
		row.cells[0].lastChild.href = taskAddress(nameOf(), group.id);
		figure(row.cells[1], group.count);
		text(row.cells[2], time(instant(group.first)));
		text(row.cells[3], time(instant(group.last)));
	});

	/** Acts on a group exactly, or on all dead tasks of the name. */
	async function many(action, group) {
		const erase = action === "delete-dead";
		const verb = erase ? "Delete" : "Requeue";
		const count = group ? group.count : total;
		const tasks = `${number(count)}${group && partly ? " or more" : ""} dead task${count === 1 && !partly ? "" : "s"}`;
		if (busy || !await confirm({
			title: group ? `${verb} ${tasks} with this error?` : [`${verb} all ${tasks} of `, isolated(nameOf()), "?"],
			about: group && [isolated(group.error), partly ? " Those on other pages are not counted here, but are included." : ""],
			button: verb, danger: erase
		})) {
			return;
		}
		busy = true;
		let done = 0;
		let skipped = 0;
		let next;
		progress.hidden = false;
		const name = nameOf();
		do {
			const step = await attempt({ action, name, group: group?.group, cursor: next }, ({ affected, skipped: kept }) => {
				done += affected;
				skipped += kept;
				return `${number(done)} ${erase ? "deleted" : "requeued"}${skipped ? `, ${number(skipped)} stay dead as their keys have pending tasks` : ""}`;
			});
			next = step?.cursor;
			text(progress, next ? `${number(done)} ${erase ? "deleted" : "requeued"} so far …` : "");
		} while (next);
		progress.hidden = true;
		busy = false;
	}

	return {
		element,
		cursor: () => cursor,
		latest: () => cursor = undefined,
		update(figures, asked) {
			const groups = figures.dead?.groups ?? [];
			partly = figures.dead?.complete === false;
			total = figures.name?.counts.dead ?? figures.names?.rows.find(({ name }) => name === asked.name)?.dead ?? 0;
			element.hidden = groups.length === 0;
			if (element.hidden && cursor) {
				cursor = undefined;
				refresh();
			}
			show(groups.map((group) => ({ ...group, acts: figures.acts })));
			if (figures.acts && !bar.children.length) {
				bar.append(h("button", { type: "button", onclick: () => many("requeue-dead") }, "Requeue all"),
					h("button", { type: "button", onclick: () => many("delete-dead") }, "Delete all"));
			}
			pages.hidden = figures.dead?.complete !== false;
			older = figures.dead?.cursor;
			latest.hidden = !asked.cursor;
			further.hidden = !older;
			text(partial, pages.hidden ? "" : `These groups count ${number(figures.dead.examined)} tasks${asked.cursor ? ", not the latest." : " that died last."}`);
		}
	};
}

/** The dead of all names. */
export function dead() {
	let chosen;
	const { element: scroll, body } = table("Names with dead tasks", [["Name"], ["Dead"], ["Pending"], ["Failed"]]);
	const none = h("p.empty", {}, "Nothing is dead.");
	const groups = deadPanel(() => chosen);
	const pages = pager();
	const show = list(body, (row) => row.name, (row) => h("tr", {}, h("th", { scope: "row" },
		h("button.mono", { type: "button", onclick: () => {
			chosen = row.name;
			groups.latest();
			refresh();
		} }, isolated(row.name))), h("td"), h("td"), h("td")), (element, row) => {
		element.querySelector("button").setAttribute("aria-pressed", String(row.name === chosen));
		["dead", "pending", "failed"].forEach((key, index) => figure(element.cells[index + 1], row[key]));
	});
	return {
		element: h("div.stack", {}, panel("Dead", scroll, none, pages.element), groups.element),
		title: "Dead",
		query: () => ({ view: "dead", name: chosen, cursor: groups.cursor(), from: pages.from() }),
		update({ figures, asked }) {
			const { rows } = figures.names;
			none.hidden = rows.length > 0;
			scroll.hidden = rows.length === 0;
			if (!rows.some((row) => row.name === chosen)) {
				chosen = rows[0]?.name;
				groups.latest();
				if (chosen) {
					refresh();
				}
			}
			pages.update(figures.names);
			show(rows);
			words(groups.element.heading, "Errors of ", isolated(chosen ?? ""));
			groups.update(figures, asked);
		}
	};
}

/** What runs again and again. */
export function schedules() {
	const { element: scroll, body } = table("Recurring methods and schedules by key", [["Name"], ["Schedule", ".text"], ["Next run", ".text"], ["Then", ".text.wide"], ["State", ".text.wide"],
		["Actions"]]);
	const none = h("p.empty");
	const filter = h("input", { type: "search", id: "filter", oninput: () => refresh(), autocomplete: "off", spellcheck: false });
	const show = list(body, (task) => task.row, (task) => h("tr", {}, h("th", { scope: "row" }, nameLink(task.name), task.key && " ", task.key && isolated(task.key)), h("td.text.mono"),
		h("td.text"), h("td.text.wide"), h("td.text.wide"), h("td")), (row, task) => {
		const state = task.state ?? "PENDING";
		row.task = task;
		text(row.cells[1], task.schedule ?? "");
		text(row.cells[3], task.next && task.next !== task.dueAt ? time(instant(task.next)) : "");
		text(row.cells[4], state.toLowerCase());
		const run = task.acts && state === "PENDING";
		if (run !== Boolean(row.cells[5].firstChild)) {
			row.cells[5].replaceChildren(...(run ? [h("button", { type: "button", "aria-label": `Run now ${task.name}${task.key ? ` ${task.key}` : ""}`,
				onclick: () => runNow(row.task) }, "Run now")] : []));
		}
	});
	const tick = () => {
		for (const row of body.rows) {
			text(row.cells[2], due(instant(row.task.dueAt) - serverNow()));
			row.cells[2].title = row.task.dueAt;
		}
	};
	const element = panel("Schedules", scroll, none,
		h("p.small.quiet", {}, "The @Recurring methods, and the schedules by key that are due next. Filter to see other names; find a key on the page of its name."));
	element.bar.append(h("label", { htmlFor: "filter" }, "Filter"), filter);
	return {
		element,
		title: "Schedules",
		tick,
		query: () => ({ view: "schedules", filter: filter.value.trim() }),
		update({ figures }) {
			const { acts } = figures;
			const rows = [...figures.schedules.map((task) => ({ ...task, row: task.name, key: "", acts })),
				...figures.keyed.map((task) => ({ ...task, row: `#${task.id}`, acts }))];
			none.hidden = rows.length > 0;
			text(none, filter.value ? "No schedule has such a name." : "There are no schedules.");
			scroll.hidden = !none.hidden;
			show(rows);
			tick();
		}
	};
}

/** The nodes, and the wheel of this one. */
export function node() {
	const claims = h("dl.panel.figures");
	const store = panel("Durable tasks on this node", claims);
	const none = h("p.empty", {}, "There is no store: all tasks are in the memory of this application.");
	const error = h("p.bad", { role: "alert", hidden: true });
	const control = h("span.buttons");
	const totals = h("dl.panel.figures");
	const levels = table("A task that is far away waits in a high level, and moves down as its time comes near",
		[["Level"], ["A slot"], ["A turn"], ["Pending"], ["Slots in use"]]);
	const wheel = wheelView();
	const all = table("All nodes of the store", [["Node"], ["State", ".text"], ["Held"], ["Reported", ".text"]]);
	const nodes = panel("All nodes", all.element);
	const showNodes = list(all.body, (one) => one.id, (one) => h("tr", {}, h("th", { scope: "row" }, one.id, " ", one.thisNode && h("span.tag", {}, "this node")),
		h("td.text"), h("td"), h("td.text")), ({ cells }, one) => {
		text(cells[1], one.silent ? "silent" : one.claiming ? "claims tasks" : "paused");
		cells[1].classList.toggle("warn", one.silent);
		text(cells[2], number(one.inFlight));
		text(cells[3], `${duration(one.age)} ago`);
	});
	store.bar.append(control);
	store.insertBefore(error, claims);
	store.append(none);
	const figures = (element, entries) => element.replaceChildren(...entries.map(([label, value]) =>
		h("div", {}, h("dt", {}, label), h("dd", {}, value))));
	const show = list(levels.body, (level) => level.level, () => h("tr", {}, h("th", { scope: "row" }), h("td"), h("td"), h("td"), h("td")), (row, level) => {
		[level.level, duration(level.tick), duration(level.span), number(level.pending), number(level.occupiedSlots)]
			.forEach((value, index) => text(row.cells[index], value));
	});
	return {
		element: h("div.now", {}, h("div.stack", {}, store, nodes, panel("The wheel in figures", totals, levels.element)), wheel.element),
		title: "Node",
		query: () => ({ view: "node" }),
		update({ figures: live }) {
			const { node: mine, wheel: state } = live;
			none.hidden = Boolean(mine);
			claims.hidden = !mine;
			nodes.hidden = !live.nodes?.length;
			// A node that has missed three reports has probably ended.
			showNodes(live.nodes?.map((one) => ({ ...one, silent: one.age > 3 * mine.interval })) ?? []);
			if (mine) {
				error.hidden = !mine.error;
				text(error, mine.error ? `The store does not answer: ${mine.error}` : "");
				figures(claims, [["Held", number(mine.inFlight)], ["Claims", compact(mine.claims)], ["Claimed", compact(mine.claimed)],
					["Retried", compact(mine.retried)], ["Given back", compact(mine.released)], ["Leases lost", compact(mine.lostLeases)],
					["Without handler", compact(mine.unknown)]]);
				const action = mine.claiming ? "pause" : "resume";
				if (control.dataset.action !== action) {
					control.dataset.action = action;
					control.replaceChildren(h("span.tag", {}, mine.claiming ? "claims tasks" : "paused"), live.acts && h("button", {
						type: "button", onclick: () => attempt({ action }, mine.claiming ? "This node claims no more tasks." : "This node claims tasks again.")
					}, mine.claiming ? "Pause claims" : "Resume claims"));
				}
			}
			figures(totals, [["Pending", compact(state.pending)], ["Scheduled", compact(state.scheduled)], ["Moved", compact(state.rescheduled)],
				["Fired", compact(state.fired)], ["Cancelled", compact(state.cancelled)], ["Refused", compact(state.refused)],
				["Rejected", compact(state.rejected)], ["Wake-ups", compact(state.wakeUps)]]);
			show(state.levels);
			wheel.show(state);
		},
		close: wheel.stop
	};
}
