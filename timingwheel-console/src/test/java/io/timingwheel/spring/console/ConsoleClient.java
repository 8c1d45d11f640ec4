package io.timingwheel.spring.console;

import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

import com.jayway.jsonpath.JsonPath;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;

/**
 * A browser without a screen, with cookies and maybe a login.
 */
final class ConsoleClient {

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

	/**
	 * Asks for the figures as the script of the page does.
	 */
	HttpResponse<String> live(String query) {
		return send(this.client,
				request(part("live?" + query)).header("X-Requested-With", "XMLHttpRequest")
					.header("Accept", "application/json")
					.GET());
	}

	/**
	 * The reference of a part of the page.
	 */
	String part(String name) {
		return this.page.getPath().substring(this.page.getPath().lastIndexOf('/') + 1) + "/" + name;
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
			request.headers(csrfToken.split(" "));
		}
		// The server may refuse the request without reading its body. No other request
		// should use this connection then.
		return send(client(), request.POST(BodyPublishers.ofString(body)));
	}

	private HttpRequest.Builder request(String reference) {
		HttpRequest.Builder request = HttpRequest
			.newBuilder(reference.isEmpty() ? this.page : this.page.resolve(reference));
		return this.loggedIn
				? request.header("Authorization", "Basic " + HttpHeaders.encodeBasicAuth("user", "secret", null))
				: request;
	}

	private static HttpResponse<String> send(HttpClient client, HttpRequest.Builder request) {
		return client.sendAsync(request.timeout(Duration.ofMinutes(1)).build(), BodyHandlers.ofString()).join();
	}

}
