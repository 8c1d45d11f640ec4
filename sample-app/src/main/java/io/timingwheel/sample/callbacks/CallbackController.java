package io.timingwheel.sample.callbacks;

import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.task.DelayedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/callbacks")
class CallbackController {

	private static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "PATCH", "DELETE");

	/** The HTTP client sets these itself. */
	private static final Set<String> RESERVED_HEADERS = Set.of("host", "connection", "content-length",
			"transfer-encoding", "upgrade", "expect", "idempotency-key");

	private static final int HIGHEST_PORT = 65_535;

	private final CallbackSender sender;

	private final CallbackProperties properties;

	CallbackController(CallbackSender sender, CallbackProperties properties) {
		this.sender = sender;
		this.properties = properties;
	}

	@PostMapping
	@ResponseStatus(HttpStatus.ACCEPTED)
	Accepted create(@RequestBody NewCallback request) {
		Duration delay = delay(request.delay());
		DelayedTask<Void> task = this.sender.send(
				new Callback(url(request.url()), method(request.method()), headers(request.headers()), request.body()),
				delay);
		return new Accepted(task.id(), task.dueAt());
	}

	private URI url(@Nullable String text) {
		URI url;
		try {
			url = URI.create((text != null) ? text : "");
		}
		catch (IllegalArgumentException ex) {
			throw badRequest("url is no URL: " + ex.getMessage());
		}
		if (!"http".equalsIgnoreCase(url.getScheme()) && !"https".equalsIgnoreCase(url.getScheme())) {
			throw badRequest("url must begin with http:// or https://");
		}
		if (url.getPort() > HIGHEST_PORT) {
			throw badRequest("the port of url must be at most " + HIGHEST_PORT);
		}
		if (!this.properties.allows(url)) {
			throw badRequest("url must go to one of " + this.properties.allowedHosts() + " (callbacks.allowed-hosts)");
		}
		return url;
	}

	private static String method(@Nullable String text) {
		String method = (text != null) ? text.toUpperCase(Locale.ROOT) : "POST";
		if (!METHODS.contains(method)) {
			throw badRequest("method must be one of " + METHODS);
		}
		return method;
	}

	private static Map<String, String> headers(@Nullable Map<String, String> headers) {
		if (headers == null) {
			return Map.of();
		}
		headers.forEach((name, value) -> {
			if (!canBeSet(name, value)) {
				throw badRequest("the header " + name.strip() + " cannot be set");
			}
		});
		return headers;
	}

	private static boolean canBeSet(String name, @Nullable String value) {
		if (RESERVED_HEADERS.contains(name.toLowerCase(Locale.ROOT)) || value == null) {
			return false;
		}
		try {
			HttpRequest.newBuilder().header(name, value);
			if (name.equalsIgnoreCase(HttpHeaders.CONTENT_TYPE)) {
				MediaType.parseMediaType(value);
			}
			return true;
		}
		catch (IllegalArgumentException ex) {
			return false;
		}
	}

	private static Duration delay(@Nullable String text) {
		try {
			Duration delay = DurationStyle.detectAndParse((text != null) ? text : "0s");
			if (!delay.isNegative()) {
				return delay;
			}
		}
		catch (IllegalArgumentException ex) {
			// The same answer.
		}
		throw badRequest("delay must be a duration such as 30s, 10m or PT1H");
	}

	private static ResponseStatusException badRequest(String detail) {
		return new ResponseStatusException(HttpStatus.BAD_REQUEST, detail);
	}

	/**
	 * What to send, and when.
	 *
	 * @param url where to; its host must be allowed
	 * @param method the method, {@code POST} by default
	 * @param headers the headers
	 * @param body the body
	 * @param delay how long from now
	 */
	record NewCallback(@Nullable String url, @Nullable String method, @Nullable Map<String, String> headers,
			@Nullable String body, @Nullable String delay) {
	}

	/**
	 * A callback that was accepted.
	 *
	 * @param id its id, also its {@code Idempotency-Key}
	 * @param dueAt when it is sent
	 */
	record Accepted(String id, Instant dueAt) {
	}

}
