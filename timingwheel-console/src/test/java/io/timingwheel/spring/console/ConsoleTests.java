package io.timingwheel.spring.console;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The console over HTTP, with the default settings of Spring Security, which ask for a
 * login and for a token against forged requests.
 */
class ConsoleTests {

	private static final String REACTIVE = "spring.main.web-application-type=reactive";

	private static final String CANCEL = "{\"action\":\"cancel\",\"name\":\"close-order\",\"task\":\"5\"}";

	private static final String UNRESTRICTED = "management.endpoint.timingwheelconsole.access=unrestricted";

	/**
	 * What holds for all servers, paths and access levels.
	 */
	@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = Application.class,
			properties = { "management.endpoints.web.exposure.include=timingwheelconsole",
					"spring.application.name=shop", "spring.security.user.password=secret" })
	abstract static class AbstractTests {

		@Autowired
		DelayedTaskOperations tasks;

		@Autowired
		private Environment environment;

		@AfterEach
		void cancelPending(@Autowired DelayedTaskRegistry registry) {
			registry.atShutdown().cancelPending();
		}

		String path() {
			return "/actuator/timingwheelconsole";
		}

		ConsoleClient client(boolean loggedIn) {
			String port = this.environment.getProperty("local.management.port",
					this.environment.getProperty("local.server.port"));
			return new ConsoleClient("http://localhost:" + port + path(), loggedIn);
		}

		ConsoleClient user() {
			return client(true);
		}

		DelayedTask<?> schedule(String name, String key) {
			return this.tasks.schedule(TaskId.of(name, key), Duration.ofHours(1), () -> {
			});
		}

		@Test
		void thePageAndItsFilesAreServedAndNothingElse() {
			ConsoleClient user = user();
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
		}

		@Test
		void theFiguresAndTheSchedulesAreServed() {
			schedule("close-order", "5");
			this.tasks.task(() -> {
			}).id(TaskId.of("reminder", "a")).on(Schedule.every(Duration.ofHours(1)));
			ConsoleClient user = user();
			assertThat(user.<String>figure("view=now", "$.application")).isEqualTo("shop");
			await().until(() -> user.<Integer>figure("view=now", "$.wheel.pending") == 3);
			// The figures of the names may be 400 ms old.
			await().untilAsserted(() -> {
				assertThat(user.<List<Integer>>figure("view=names&filter=CLOSE", "$.names.rows[*].pending"))
					.containsExactly(1);
				assertThat(user.<List<String>>figure("view=schedules", "$.keyed[*].key")).containsExactly("a");
			});
			assertThat(user.<List<Integer>>figure("view=now&range=P1D", "$.forecast.tasks.close-order.counts"))
				.containsOnlyOnce(1);
			assertThat(user.<List<String>>figure("view=name&name=close-order", "$.name.next[*].key"))
				.containsExactly("5");
			assertThat(user.<String>figure("view=name&name=close-order&find=5", "$.found.key")).isEqualTo("5");
			assertThat(user.<List<String>>figure("view=schedules", "$.schedules[*].name")).containsExactly("report");
			assertThat(user.<List<String>>figure("view=schedules", "$.keyed[*].schedule"))
				.containsExactly("every(PT1H)");
			assertThat(user.<List<String>>figure("view=schedules&filter=report", "$.keyed[*].key")).isEmpty();
			assertThat(user.<List<String>>figure("view=schedules&filter=MIND", "$.schedules[*].name")).isEmpty();
		}

	}

	/**
	 * What holds where the page may act.
	 */
	abstract static class AbstractUnrestrictedTests extends AbstractTests {

		@Test
		void nothingIsServedWithoutALogin() {
			ConsoleClient stranger = client(false);
			String token = user().csrfToken();
			assertThat(stranger.get("").statusCode()).isIn(302, 401);
			assertThat(stranger.live("view=names").statusCode()).isIn(302, 401);
			assertThat(stranger.act(token, "{\"action\":\"pause\"}").statusCode()).isIn(302, 401, 403);
		}

		@Test
		void anActionNeedsTheTokenAgainstForgedRequests() {
			DelayedTask<?> task = schedule("close-order", "5");
			ConsoleClient user = user();
			assertThat(user.<Boolean>figure("", "$.acts")).isTrue();
			// This client sends its login with each request. A server that looks for the
			// token first does not know the user yet, and answers 401.
			assertThat(user.act(null, CANCEL).statusCode()).isIn(401, 403);
			assertThat(task.isCancelled()).isFalse();
			assertAnswer(user.act(user.csrfToken(), CANCEL), 200, "\"affected\":1");
			assertThat(task.isCancelled()).isTrue();
			assertAnswer(user.act(user.csrfToken(), CANCEL), 404, "\"error\":");
		}

		@Test
		void aTaskIsMovedAndRunAndWhatMakesNoSenseIsRefusedWithASentence() {
			DelayedTask<?> task = schedule("close-order", "a/b");
			ConsoleClient user = user();
			String id = ",\"name\":\"close-order\",\"task\":\"" + task.id() + "\"}";
			assertAnswer(user.act(user.csrfToken(), "{\"action\":\"explode\"" + id), 400, "explode");
			assertAnswer(user.act(user.csrfToken(), "{\"action\":\"reschedule\",\"delay\":\"2h\"" + id), 200, "");
			assertThat(Duration.between(Instant.now(), task.dueAt())).isGreaterThan(Duration.ofMinutes(119));
			assertAnswer(user.act(user.csrfToken(), "{\"action\":\"run\"" + id), 200, "");
			assertThat(task.completion()).succeedsWithin(Duration.ofMinutes(2));
		}

		private static void assertAnswer(HttpResponse<String> response, int status, String text) {
			assertThat(response.statusCode()).isEqualTo(status);
			assertThat(response.body()).contains(text);
		}

	}

	@Nested
	@TestPropertySource(
			properties = { UNRESTRICTED, "server.servlet.context-path=/app", "management.endpoints.web.base-path=/ops",
					"management.endpoints.web.path-mapping.timingwheelconsole=tools/wheel" })
	class MvcTests extends AbstractUnrestrictedTests {

		@Override
		String path() {
			return "/app/ops/tools/wheel";
		}

	}

	@Nested
	@TestPropertySource(properties = { UNRESTRICTED, "management.server.port=0" })
	class MvcOnAnotherPortTests extends AbstractUnrestrictedTests {

	}

	@Nested
	@TestPropertySource(properties = { UNRESTRICTED, REACTIVE, "spring.webflux.base-path=/app",
			"management.endpoints.web.base-path=/ops" })
	class WebFluxTests extends AbstractUnrestrictedTests {

		@Override
		String path() {
			return "/app/ops/timingwheelconsole";
		}

	}

	@Nested
	@TestPropertySource(properties = { UNRESTRICTED, REACTIVE, "management.server.port=0",
			// There is a servlet container on the classpath, too.
			"spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration" })
	class WebFluxOnAnotherPortTests extends AbstractUnrestrictedTests {

	}

	/**
	 * What holds with read-only access, which is the default. There is no login and no
	 * token, so that only the access level refuses.
	 */
	abstract static class AbstractReadOnlyTests extends AbstractTests {

		@Test
		void nothingActs() {
			DelayedTask<?> task = schedule("close-order", "5");
			ConsoleClient user = user();
			assertThat(user.<Boolean>figure("", "$.acts")).isFalse();
			assertThat(user.csrfToken()).isNull();
			assertThat(user.act(null, CANCEL).statusCode()).isEqualTo(405);
			assertThat(task.isCancelled()).isFalse();
		}

		@Test
		void manyNamesAreAnsweredInPages() {
			for (int i = 0; i < 1200; i++) {
				schedule("name-" + i, "key");
			}
			ConsoleClient user = user();
			await().until(() -> user.<Integer>figure("view=names&filter=name-", "$.names.matching") == 1200);
			Set<String> names = new HashSet<>();
			for (int from = 0; from < 1200; from += 100) {
				List<String> page = user.figure("view=names&filter=name-&sort=name&from=" + from,
						"$.names.rows[*].name");
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

	}

	/**
	 * With {@code csrf.spa()} a token in a header has no mask. The page takes the mask
	 * off, as this test does.
	 */
	@Nested
	@Import(SpaConfiguration.class)
	@TestPropertySource(properties = UNRESTRICTED)
	class SinglePageApplicationTests extends AbstractTests {

		@Test
		void anActionWithTheUnmaskedTokenIsPermitted() {
			DelayedTask<?> task = schedule("close-order", "5");
			ConsoleClient user = user();
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
			ConsoleClient stranger = client(false);
			HttpResponse<String> poll = stranger.live("view=now");
			assertThat(poll.statusCode()).isEqualTo(401);
			assertThat(poll.headers().firstValue("WWW-Authenticate")).isEmpty();
			assertThat(poll.headers().firstValue("Set-Cookie").orElse("")).as("no request is saved in a session")
				.doesNotContain("JSESSIONID");
		}

	}

	@Nested
	@Import(OpenServletConfiguration.class)
	class MvcReadOnlyTests extends AbstractReadOnlyTests {

	}

	@Nested
	@Import(OpenReactiveConfiguration.class)
	@TestPropertySource(properties = REACTIVE)
	class WebFluxReadOnlyTests extends AbstractReadOnlyTests {

	}

	@Test
	void thePageIsSmallAndLoadsNothingFromOtherHostsAndRunsNoCodeOfItsOwnText() throws IOException {
		ConsoleFiles files = new ConsoleFiles("timingwheelconsole");
		String page = new String(files.page().getBody(), StandardCharsets.UTF_8);
		assertThat(page).contains("default-src 'none'").doesNotContain("unsafe", "<style", "style=", "onclick");
		assertThat(Pattern.compile("<script(?![^>]* src=)").matcher(page).find()).isFalse();
		int size = files.page().getBody().length;
		for (String name : files.names()) {
			byte[] file = files.file(name).getBody();
			size += file.length;
			assertThat(new String(file, StandardCharsets.UTF_8).replace("http://www.w3.org/2000/svg", "")).as(name)
				.doesNotContain("http:", "https:", "eval(", "innerHTML", "new Function");
		}
		assertThat(size).isBetween(20_000, 60 * 1024);
		try (Stream<Path> source = Files.list(Path.of("src/main/resources/io/timingwheel/spring/console"))) {
			assertThat(source.mapToLong((file) -> file.toFile().length()).sum()).isBetween(20_000L, 85 * 1024L);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Recurring(every = "1h", initialDelay = "1h", name = "report")
		void report() {
		}

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
