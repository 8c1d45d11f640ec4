import { duration, millis, number } from "./format.js";
import { list, serverTimeIs, state, tick, untilNow } from "./rows.js";
import { showTasks, showWheel } from "./wheel.js";

const REFRESH_MS = 500;
const COUNTDOWN_MS = 100;
const ROWS = 5;
const CALLBACKS = 40;
const ITEMS = ["tea", "bread", "a bicycle", "ten lemons", "an umbrella", "new shoes", "a blue vase", "postcards"];
const NAMES = ["ada", "alan", "barbara", "donald", "edsger", "frances", "grace", "james", "linus", "margaret", "radia", "tony"];

const $ = (id) => document.getElementById(id);
const any = (values) => values[Math.floor(Math.random() * values.length)];

/** Orders whose task was cancelled on this page. Nothing closes them. */
const keptOpen = new Set();

let drivers = [];

async function call(method, path, body) {
	const response = await fetch(path, {
		method,
		headers: body && { "Content-Type": "application/json" },
		body: body && JSON.stringify(body)
	});
	const answer = response.headers.get("Content-Type")?.includes("json") ? await response.json() : undefined;
	if (!response.ok) {
		throw Object.assign(new Error(answer?.detail ?? response.statusText), { status: response.status });
	}
	return answer;
}

/** Runs an action, shows its outcome in a card, and refreshes the page. */
async function act(card, action) {
	const outcome = $(`${card}-outcome`);
	outcome.className = "";
	try {
		outcome.textContent = await action();
	}
	catch (error) {
		outcome.className = "bad";
		outcome.textContent = error.message;
	}
	await refresh();
}

function on(id, card, action) {
	$(id).addEventListener("click", () => act(card, action));
}

on("new-order", "orders", async () => {
	const order = await call("POST", "orders", { item: any(ITEMS) });
	return `Order ${order.id} was placed.`;
});

on("new-driver", "drivers", () => {
	const known = new Set(drivers.map((driver) => driver.id));
	return heartbeat(NAMES.find((name) => !known.has(name)) ?? any(NAMES));
});

on("fleet", "drivers", async () => {
	const fleet = await call("POST", "drivers/heartbeats?count=1000&spread=5s");
	return `${number(fleet.count)} drivers send a heartbeat within ${duration(millis(fleet.spread))}.`;
});

on("change", "search", async () => {
	const { changes, indexed } = await call("POST", "search/changes");
	return `${number(changes - indexed)} of the changes wait for the index.`;
});

on("send", "callbacks", async () => {
	const receiver = new URL("callbacks/demo", location);
	receiver.hostname = "localhost";
	await Promise.all(Array.from({ length: CALLBACKS }, () => call("POST", "callbacks", { url: receiver })));
	return `${CALLBACKS} callbacks are on their way.`;
});

async function heartbeat(id) {
	const driver = await call("POST", `drivers/${encodeURIComponent(id)}/heartbeat`);
	return `Heartbeat ${driver.heartbeats} of ${driver.id}.`;
}

for (const button of document.querySelectorAll(".quote")) {
	button.addEventListener("click", () => act("quotes", async () => {
		const start = performance.now();
		const took = () => duration(Math.round(performance.now() - start));
		$("quotes-outcome").textContent = "Asking …";
		try {
			const quote = await call("GET", `quotes/tea?work=${button.dataset.work}`);
			return `After ${took()}: ${quote.item} costs ${(quote.cents / 100).toFixed(2)}.`;
		}
		catch (error) {
			throw new Error(`${error.status} after ${took()}: ${error.message}`);
		}
	}));
}

const showOrders = list($("orders"), $("order-row"), (order) => order.id, (row, order) => {
	const open = order.status === "PENDING";
	const kept = keptOpen.has(order.id) || (open && untilNow(order.closesAt) > 2000);
	row.querySelector(".name").textContent = `${order.id} · ${order.item}`;
	button(row, ".pay", open, () => act("orders", async () => {
		await call("POST", `orders/${order.id}/pay`);
		return `Order ${order.id} is paid, and its task is cancelled.`;
	}));
	button(row, ".keep", open && !kept, () => act("orders", async () => {
		await call("DELETE", `actuator/delayedtasks/close-order/${order.id}`);
		keptOpen.add(order.id);
		return `Order ${order.id} stays open: its task is cancelled through the actuator.`;
	}));
	const settled = Date.parse(order.settledAt);
	switch (order.status) {
		case "PAID":
			return state(row, { text: `Paid after ${duration(settled - Date.parse(order.createdAt))}`, outcome: "good" });
		case "CLOSED":
			return state(row, { text: `Closed, ${duration(settled - Date.parse(order.closesAt))} after its time`, outcome: "bad" });
		default:
			return kept ? state(row, { text: "Stays open" })
				: state(row, { until: order.closesAt, within: paymentWindow, text: "Closes" });
	}
});

const showDrivers = list($("drivers"), $("driver-row"), (driver) => driver.id, (row, driver) => {
	row.querySelector(".name").textContent = driver.id;
	button(row, ".heartbeat", true, () => act("drivers", () => heartbeat(driver.id)));
	if (driver.status === "ONLINE") {
		state(row, { until: driver.offlineAt, within: silence, text: "Online · offline", outcome: "good" });
	}
	else {
		state(row, { text: "Offline", outcome: "bad" });
	}
});

/** Shows or hides a button of a row. The focus of a button that is hidden moves to the main button of the card. */
function button(row, selector, visible, action) {
	const element = row.querySelector(selector);
	element.onclick = action;
	if (!visible && element === document.activeElement) {
		row.closest("section").querySelector("button.primary").focus();
	}
	element.hidden = !visible;
}

let paymentWindow;
let silence;

function showRest(card, total, what) {
	$(`${card}-rest`).textContent = total > ROWS ? `and ${number(total - ROWS)} more${what}` : "";
}

function showReport(report) {
	const time = new Date(report.createdAt).toLocaleTimeString();
	$("report").textContent = `Nightly report of ${time}: ${number(report.total)} orders, ${number(report.paid)} paid, `
		+ `${number(report.closed)} closed.`;
}

async function refresh() {
	try {
		const [orderList, driverList, search, callbacks, reports, wheel, tasks] = await Promise.all(
			["orders", "drivers", "search", "callbacks/demo", "reports", "actuator/timingwheel", "actuator/delayedtasks"].map((path) => call("GET", path)));
		serverTimeIs(orderList.now);
		paymentWindow = orderList.paymentWindow;
		silence = driverList.silence;
		drivers = driverList.drivers;
		$("payment-window").textContent = duration(millis(paymentWindow));
		$("silence").textContent = duration(millis(silence));
		showOrders(orderList.orders.slice(0, ROWS));
		showDrivers(drivers.slice(0, ROWS));
		showRest("orders", orderList.total, "");
		showRest("drivers", driverList.total, `; ${number(driverList.online)} of ${number(driverList.total)} are online`);
		$("search-figures").textContent = `${number(search.indexed)} of ${number(search.changes)} changes in the index, ${number(search.builds)} built`;
		$("callbacks-figures").textContent = `${number(callbacks.received)} received, ${number(callbacks.refused)} refused at first, `
			+ `${number(tasks.tasks.callback.pending)} pending`;
		if (reports.length > 0) {
			showReport(reports[0]);
		}
		showWheel(wheel);
		showTasks(tasks);
		tick();
		$("connection").textContent = "";
	}
	catch (error) {
		$("connection").textContent = `No answer from the application, trying again. (${error.message})`;
	}
}

async function keepRefreshing() {
	if (!document.hidden) {
		await refresh();
	}
	setTimeout(keepRefreshing, REFRESH_MS);
}

setInterval(tick, COUNTDOWN_MS);
keepRefreshing();
