package io.timingwheel.spring.console;

import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import com.jayway.jsonpath.JsonPath;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.console.LiveFigures.NodeFigures;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.mockito.Answers;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpHeaders;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The console over HTTP, with the default settings of Spring Security, which ask for a
 * login and for a token against forged requests.
 */
class ConsoleTests {

	private static final String CANCEL = "{\"action\":\"cancel\",\"name\":\"close-order\",\"task\":\"5\"}";

	private static final Map<Server, ConfigurableApplicationContext> running = new EnumMap<>(Server.class);

	@AfterEach
	void cancelPending() {
		running.values().forEach((context) -> context.getBean(DelayedTaskRegistry.class).atShutdown().cancelPending());
	}

	@AfterAll
	static void stop() {
		running.values().forEach(ConfigurableApplicationContext::close);
	}

	@ParameterizedTest
	@EnumSource(names = { "MVC", "WEBFLUX", "READ_ONLY" })
	void thePageItsFilesAndItsFiguresAreServedAndNothingElse(Server server) {
		ConsoleClient user = server.client(true);
		HttpResponse<String> page = user.get("");
		assertThat(page.statusCode()).isEqualTo(200);
		assertThat(page.headers().firstValue("Content-Type")).hasValue("text/html;charset=UTF-8");
		List<String> files = Pattern.compile("<(?:link|script)[^>]* (?:href|src)=\"([^\"]+)\"")
			.matcher(page.body())
			.results()
			.map((reference) -> reference.group(1))
			.toList();
		assertThat(files).hasSize(3).allSatisfy((file) -> {
			String type = file.endsWith(".js") ? "text/javascript"
					: file.endsWith(".css") ? "text/css" : "image/svg+xml";
			assertThat(user.get(file).statusCode()).isEqualTo(200);
			assertThat(user.get(file).headers().firstValue("Content-Type").orElse("")).startsWith(type);
		});
		assertThat(user.get(user.part("index.html")).statusCode()).isEqualTo(404);
		assertThat(user.get(user.part("LiveFigures.class")).statusCode()).isEqualTo(404);
		server.schedule("close-order", "5");
		assertThat(user.<String>figure("view=now", "$.application")).isEqualTo("shop");
		assertThat(user.<Boolean>figure("", "$.acts")).isEqualTo(server.acts());
		assertThat(user.<String>figure("view=name&name=close-order&find=5", "$.found.key")).isEqualTo("5");
	}

	@ParameterizedTest
	@EnumSource(names = { "MVC", "WEBFLUX" })
	void nothingIsServedWithoutALogin(Server server) {
		ConsoleClient stranger = server.client(false);
		String token = server.client(true).csrfToken();
		assertThat(stranger.get("").statusCode()).isIn(302, 401);
		assertThat(stranger.live("view=names").statusCode()).isIn(302, 401);
		assertThat(stranger.act(token, "{\"action\":\"pause\"}").statusCode()).isIn(302, 401, 403);
	}

	@ParameterizedTest
	@EnumSource(names = { "MVC", "WEBFLUX" })
	void anActionNeedsTheTokenAgainstForgedRequests(Server server) {
		DelayedTask<?> task = server.schedule("close-order", "5");
		ConsoleClient user = server.client(true);
		// This client sends its login with each request. A server that looks for the
		// token first does not know the user yet, and answers 401.
		assertThat(user.act(null, CANCEL).statusCode()).isIn(401, 403);
		assertThat(task.isCancelled()).isFalse();
		HttpResponse<String> cancelled = user.act(user.csrfToken(), CANCEL);
		assertThat(cancelled.statusCode()).isEqualTo(200);
		assertThat(cancelled.body()).contains("\"affected\":1");
		assertThat(task.isCancelled()).isTrue();
		assertThat(user.act(user.csrfToken(), CANCEL).statusCode()).isEqualTo(404);
	}

	@ParameterizedTest
	@Tag("faults")
	@EnumSource(mode = Mode.MATCH_ALL, names = ".*PORT")
	void theManagementContextDoesTheSame(Server server) {
		thePageItsFilesAndItsFiguresAreServedAndNothingElse(server);
		cancelPending();
		nothingIsServedWithoutALogin(server);
		anActionNeedsTheTokenAgainstForgedRequests(server);
	}

	@Test
	@Tag("faults")
	void nothingActsByDefaultWithWebFluxEither() {
		thePageItsFilesAndItsFiguresAreServedAndNothingElse(Server.READ_ONLY_WEBFLUX);
		cancelPending();
		nothingActsByDefault(Server.READ_ONLY_WEBFLUX);
	}

	/** There is no login and no token, so that only the access level refuses. */
	@ParameterizedTest
	@EnumSource(names = "READ_ONLY")
	void nothingActsByDefault(Server server) {
		DelayedTask<?> task = server.schedule("close-order", "5");
		ConsoleClient user = server.client(false);
		assertThat(user.csrfToken()).isNull();
		assertThat(user.act(null, CANCEL).statusCode()).isEqualTo(405);
		assertThat(task.isCancelled()).isFalse();
	}

	@Test
	void manyNamesAreAnsweredInPages() {
		for (int i = 0; i < 1200; i++) {
			Server.READ_ONLY.schedule("name-" + i, "key");
		}
		ConsoleClient user = Server.READ_ONLY.client(false);
		// The figures of the names may be 400 ms old.
		await().until(() -> user.<Integer>figure("view=names&filter=NAME-", "$.names.matching") == 1200);
		Set<String> names = new HashSet<>();
		for (int from = 0; from < 1200; from += 100) {
			List<String> page = user.figure("view=names&filter=name-&sort=name&from=" + from, "$.names.rows[*].name");
			assertThat(page).hasSize(100);
			names.addAll(page);
		}
		assertThat(names).hasSize(1200);
		assertThat(user.<Integer>figure("view=names&filter=name-&from=5000", "$.names.from")).isZero();
		assertThat(user.live("view=names").body().length()).isLessThan(100_000);
		assertThat(user.<Integer>figure("view=names", "$.totals.pending")).isGreaterThanOrEqualTo(1200);
		assertThat(user.<List<String>>figure("view=names&filter=name-777", "$.names.rows[*].name"))
			.containsExactly("name-777");
	}

	/**
	 * With {@code csrf.spa()} a token in a header has no mask. The page takes the mask
	 * off, as this test does.
	 */
	@Test
	@Tag("faults")
	void anActionWithTheUnmaskedTokenOfASinglePageApplicationIsPermitted() {
		DelayedTask<?> task = Server.SINGLE_PAGE_APPLICATION.schedule("close-order", "5");
		ConsoleClient user = Server.SINGLE_PAGE_APPLICATION.client(true);
		String[] masked = user.csrfToken().split(" ");
		assertThat(user.act(user.csrfToken(), CANCEL).statusCode()).isIn(401, 403);
		byte[] bytes = Base64.getUrlDecoder().decode(masked[1]);
		byte[] token = new byte[bytes.length / 2];
		for (int i = 0; i < token.length; i++) {
			token[i] = (byte) (bytes[i] ^ bytes[token.length + i]);
		}
		String unmasked = masked[0] + " " + new String(token, StandardCharsets.UTF_8);
		assertThat(user.act(unmasked, CANCEL).statusCode()).isEqualTo(200);
		assertThat(task.isCancelled()).isTrue();
	}

	@Test
	void theBrowserOpensNoLoginDialogForAPoll() {
		HttpResponse<String> poll = Server.MVC.client(false).live("view=now");
		assertThat(poll.statusCode()).isEqualTo(401);
		assertThat(poll.headers().firstValue("WWW-Authenticate")).isEmpty();
		assertThat(poll.headers().firstValue("Set-Cookie").orElse("")).as("no request is saved in a session")
			.doesNotContain("JSESSIONID");
	}

	@Test
	void thePageIsSmallAndLoadsNothingFromOtherHostsAndRunsNoCodeOfItsOwnText() {
		ConsoleFiles files = new ConsoleFiles("timingwheelconsole");
		String page = new String(files.page().getBody(), StandardCharsets.UTF_8);
		assertThat(page).contains("default-src 'none'").doesNotContain("unsafe", "<style", "style=", "onclick");
		assertThat(Pattern.compile("<script(?![^>]* src=)").matcher(page).find()).isFalse();
		int size = files.page().getBody().length;
		for (String name : ConsoleFiles.TYPES.keySet()) {
			byte[] file = files.file(name).getBody();
			size += file.length;
			assertThat(new String(file, StandardCharsets.UTF_8).replace("http://www.w3.org/2000/svg", "")).as(name)
				.doesNotContain("http:", "https:", "eval(", "innerHTML", "new Function");
		}
		assertThat(size).isBetween(20_000, 60 * 1024);
	}

	@Test
	void theErrorOfTheStoreIsShownLikeOtherTextsOfErrors() {
		StoredTasks tasks = mock(Answers.RETURNS_DEEP_STUBS);
		given(tasks.node().outage().reason()).willReturn(new IllegalStateException("Ann"));
		assertThat(NodeFigures.of(tasks, false).error()).isEqualTo("******");
		assertThat(NodeFigures.of(tasks, true).error()).endsWith("Ann");
	}

	/** A browser without a screen, with cookies and maybe a login. */
	private static final class ConsoleClient {

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

		/** A figure that the page shows. */
		<T> T figure(String query, String path) {
			return JsonPath.read(live(query).body(), path);
		}

		/** Asks for the figures as the script of the page does. */
		HttpResponse<String> live(String query) {
			return send(this.client,
					request(part("live?" + query)).header("X-Requested-With", "XMLHttpRequest")
						.header("Accept", "application/json")
						.GET());
		}

		/** The reference of a part of the page. */
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
			// The server may refuse the request without reading its body. Then no other
			// request should use this connection.
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

	/**
	 * Applications by their servers, paths, access levels and security. Each starts when
	 * a test first needs it.
	 */
	enum Server {

		MVC("/app/ops/tools/wheel", Application.class, "server.servlet.context-path=/app",
				"management.endpoints.web.base-path=/ops",
				"management.endpoints.web.path-mapping.timingwheelconsole=tools/wheel"),

		MVC_ON_ANOTHER_PORT("/actuator/timingwheelconsole", Application.class, "management.server.port=0"),

		WEBFLUX("/app/ops/timingwheelconsole", Application.class, "spring.main.web-application-type=reactive",
				"spring.webflux.base-path=/app", "management.endpoints.web.base-path=/ops"),

		WEBFLUX_ON_ANOTHER_PORT("/actuator/timingwheelconsole", Application.class,
				"spring.main.web-application-type=reactive", "management.server.port=0",
				// There is a servlet container on the classpath, too.
				"spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration"),

		READ_ONLY("/actuator/timingwheelconsole", OpenServletConfiguration.class),

		READ_ONLY_WEBFLUX("/actuator/timingwheelconsole", OpenReactiveConfiguration.class,
				"spring.main.web-application-type=reactive"),

		SINGLE_PAGE_APPLICATION("/actuator/timingwheelconsole", SpaConfiguration.class);

		private final String path;

		private final Class<?> security;

		private final List<String> properties;

		Server(String path, Class<?> security, String... properties) {
			this.path = path;
			this.security = security;
			this.properties = new ArrayList<>(List.of(properties));
			this.properties.add("management.endpoints.web.exposure.include=timingwheelconsole");
			this.properties.addAll(
					List.of("server.port=0", "spring.application.name=shop", "spring.security.user.password=secret"));
			if (acts()) {
				this.properties.add("management.endpoint.timingwheelconsole.access=unrestricted");
			}
		}

		boolean acts() {
			return !name().startsWith("READ_ONLY");
		}

		private ConfigurableApplicationContext context() {
			return running.computeIfAbsent(this,
					(server) -> new SpringApplicationBuilder(Application.class, this.security)
						.properties(this.properties.toArray(String[]::new))
						.run());
		}

		ConsoleClient client(boolean loggedIn) {
			Environment environment = context().getEnvironment();
			String port = environment.getProperty("local.management.port",
					environment.getProperty("local.server.port"));
			return new ConsoleClient("http://localhost:" + port + this.path, loggedIn);
		}

		DelayedTask<?> schedule(String name, String key) {
			return context().getBean(DelayedTaskOperations.class)
				.schedule(TaskId.of(name, key), Duration.ofHours(1), () -> {
				});
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	static class SpaConfiguration {

		@Bean
		SecurityFilterChain singlePage(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.spa())
				.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.formLogin(Customizer.withDefaults())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OpenServletConfiguration {

		@Bean
		SecurityFilterChain open(HttpSecurity http) {
			return http.csrf(AbstractHttpConfigurer::disable)
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OpenReactiveConfiguration {

		@Bean
		SecurityWebFilterChain open(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.build();
		}

	}

}
