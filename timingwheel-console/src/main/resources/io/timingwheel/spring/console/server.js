/** At most two requests a second, whatever the page does. */
const SPACING_MS = 500;
const REFRESH_MS = 1000;
const LIMIT_MS = 10_000;
const HEADERS = { "Accept": "application/json", "X-Requested-With": "XMLHttpRequest" };
const ANSWERS = {
	401: "Your session has ended. Reload the page to sign in again.",
	403: "The server does not permit this to you (403). If you have signed in again, reload the page.",
	404: "The server does not find this (404). It may have moved: reload the page.",
	405: "This page is read-only (405).",
	429: "The server wants fewer requests (429).",
	500: "The server has failed (500). Its log says why.",
	503: "The server is not ready (503)."
};
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
let plain = false;

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

/** Durations come as ISO 8601, and are used in milliseconds. */
function revive(key, value) {
	const part = /^(tick|lag|maxLag|age|span|interval)$/.test(key) && /^PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?/.exec(value);
	return part ? (part[1] ?? 0) * 36e5 + (part[2] ?? 0) * 6e4 + (part[3] ?? 0) * 1e3 : value;
}

async function call(path, { headers, ...options } = {}) {
	await turn();
	const response = await fetch(path, {
		...options, headers: { ...HEADERS, ...headers }, redirect: "manual", cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(LIMIT_MS)
	}).catch((error) => {
		throw Object.assign(error, { silent: true });
	});
	const status = response.type === "opaqueredirect" ? 401 : response.status;
	const csrf = response.headers.get("Timingwheel-Csrf");
	token = csrf ? csrf.split(" ", 2) : token;
	const json = response.headers.get("Content-Type")?.includes("json") ? await response.text().then((body) => JSON.parse(body, revive)).catch(() => {}) : undefined;
	if (status < 200 || status > 299) {
		// Only an answer to an action has a sentence of its own.
		const said = json && "affected" in json ? json.error : undefined;
		throw Object.assign(new Error(said ?? ANSWERS[status] ?? [`The server answers ${status}.`, json?.detail].filter(Boolean).join(" ")), { status });
	}
	if (!json) {
		throw Object.assign(new Error("The answer is not that of the application. A proxy or a login may be between."), { status });
	}
	return json;
}

/** The token without its mask: the second half of its bytes is masked by the first one. */
function unmasked(masked) {
	try {
		const bytes = [...atob(masked.replaceAll("-", "+").replaceAll("_", "/"))].map((byte) => byte.charCodeAt());
		const half = bytes.length / 2;
		const bare = String.fromCharCode(...bytes.slice(half).map((byte, index) => byte ^ bytes[index]));
		return /^[!-~]+$/.test(bare) ? bare : masked;
	}
	catch {
		return masked;
	}
}

/**
 * Asks the server to act. The promise fails with what the server says. Some applications expect the token against forged
 * requests with its mask, others without: if one is refused, this tries the other one.
 */
export async function act(request) {
	try {
		for (let again = true; ; again = false) {
			const [name, masked] = token ?? [];
			const headers = { "Content-Type": "application/json", ...(name && { [name]: plain ? unmasked(masked) : masked }) };
			try {
				return await call(acting, { method: "POST", headers, body: JSON.stringify(request) });
			}
			catch (error) {
				if (!again || !name || unmasked(masked) === masked || ![401, 403].includes(error.status)) {
					throw error;
				}
				plain = !plain;
			}
		}
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
