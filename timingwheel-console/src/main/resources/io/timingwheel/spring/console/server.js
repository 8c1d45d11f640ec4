/** At most two requests a second, whatever the page does. */
const SPACING_MS = 500;
const REFRESH_MS = 1000;
const LIMIT_MS = 10_000;
const { live, act: acting } = document.body.dataset;

let query = () => ({});
let show = () => {};
let lostSince = 0;
let failures = 0;
let timer;
let asking = false;
let askAgain = false;
let free = 0;
let token;

/** The time of the server minus that of this page. */
let ahead = 0;

export const serverNow = () => Date.now() + ahead;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until another request may go out. */
async function turn() {
	const now = performance.now();
	const at = Math.max(now, free);
	free = at + SPACING_MS;
	if (at > now) {
		await wait(at - now);
	}
}

async function call(path, options) {
	await turn();
	const response = await fetch(path, {
		...options, redirect: "manual", cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(LIMIT_MS)
	});
	if (response.type === "opaqueredirect" || response.status === 401) {
		throw Object.assign(new Error("Your session has ended. Reload the page to sign in again."), { signedOut: true });
	}
	const csrf = response.headers.get("Timingwheel-Csrf");
	token = csrf ? csrf.split(" ", 2) : token;
	const json = response.headers.get("Content-Type")?.includes("json") ? await response.json() : undefined;
	if (!response.ok) {
		throw new Error(json?.error ?? json?.detail ?? (response.status === 403 ? "You may not do this (403)."
			: response.status === 405 ? "This page is read-only (405)." : `The server answers ${response.status}.`));
	}
	return json;
}

/** Asks the server to act; the promise fails with what the server says. */
export async function act(request) {
	const headers = { "Content-Type": "application/json" };
	if (token) {
		headers[token[0]] = token[1];
	}
	try {
		return await call(acting, { method: "POST", headers, body: JSON.stringify(request) });
	}
	finally {
		refresh();
	}
}

async function ask() {
	clearTimeout(timer);
	if (document.hidden || asking) {
		askAgain = asking;
		return;
	}
	asking = true;
	const asked = query();
	try {
		const parameters = Object.entries(asked).filter(([, value]) => value);
		const figures = await call(`${live}?${new URLSearchParams(parameters)}`);
		ahead = figures.time - Date.now();
		const back = failures > 0;
		failures = 0;
		lostSince = 0;
		show({ figures, asked, back });
	}
	catch (error) {
		failures++;
		lostSince ||= Date.now();
		show({ error, since: lostSince });
	}
	asking = false;
	timer = setTimeout(ask, askAgain ? 0 : REFRESH_MS * Math.min(5, Math.max(1, failures)));
	askAgain = false;
}

/** Asks for the figures as soon as possible. */
export const refresh = () => ask();

/** Asks for figures while the page is visible. */
export function watch(queryOfView, listener) {
	query = queryOfView;
	show = listener;
	document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : ask()));
	ask();
}
