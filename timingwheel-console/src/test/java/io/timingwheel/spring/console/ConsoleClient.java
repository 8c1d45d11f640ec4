package io.timingwheel.spring.console;

import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient.Version;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;

import com.jayway.jsonpath.JsonPath;
import org.jspecify.annotations.Nullable;

/**
 * A browser without a screen, with cookies and a login.
 */
final class ConsoleClient {

	private static final String CREDENTIALS = "Basic "
			+ Base64.getEncoder().encodeToString("user:secret".getBytes(StandardCharsets.UTF_8));

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	private final CookieManager cookies = new CookieManager();

	private final HttpClient client = client();

	private final URI page;

	private final boolean loggedIn;

	ConsoleClient(String page, boolean loggedIn) {
		this.page = URI.create(page);
		this.loggedIn = loggedIn;
	}

	private HttpClient client() {
		return HttpClient.newBuilder().version(Version.HTTP_1_1).cookieHandler(this.cookies).build();
	}

	HttpResponse<String> get(String reference) {
		return send(this.client, request(reference).GET());
	}

	/**
	 * A figure that the page shows.
	 */
	<T> T figure(String query, String path) {
		return JsonPath.read(live(query).body(), path);
	}

	HttpResponse<String> live(String query) {
		String page = this.page.getPath();
		return get(page.substring(page.lastIndexOf('/') + 1) + "/live?" + query);
	}

	/**
	 * Asks for the figures as the script of the page does.
	 */
	HttpResponse<String> poll(String query) {
		String page = this.page.getPath();
		return send(this.client,
				request(page.substring(page.lastIndexOf('/') + 1) + "/live?" + query)
					.header("X-Requested-With", "XMLHttpRequest")
					.header("Accept", "application/json")
					.GET());
	}

	/**
	 * The header of the token against forged requests, {@code null} if there is none.
	 */
	@Nullable String csrfToken() {
		return live("view=names").headers().firstValue("Timingwheel-Csrf").orElse(null);
	}

	HttpResponse<String> act(@Nullable String csrfToken, String body) {
		HttpRequest.Builder request = request("").header("Content-Type", "application/json");
		if (csrfToken != null) {
			String[] parts = csrfToken.split(" ");
			request.header(parts[0], parts[1]);
		}
		// The server may refuse the request without reading its body. No other request
		// should use this connection then.
		return send(client(), request.POST(BodyPublishers.ofString(body)));
	}

	private HttpRequest.Builder request(String reference) {
		HttpRequest.Builder request = HttpRequest
			.newBuilder(reference.isEmpty() ? this.page : this.page.resolve(reference));
		return this.loggedIn ? request.header("Authorization", CREDENTIALS) : request;
	}

	private static HttpResponse<String> send(HttpClient client, HttpRequest.Builder request) {
		try {
			return client.send(request.timeout(TIMEOUT).build(), BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
