package io.timingwheel.spring.autoconfigure;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.http.codec.autoconfigure.CodecsAutoConfiguration;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webflux.autoconfigure.HttpHandlerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.error.ErrorWebFluxAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorMvcAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.MessageSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.web.servlet.function.RouterFunctions.route;

@ExtendWith(OutputCaptureExtension.class)
class TimeoutProblemDetailsTests {

	private static final String BODY = """
			{"status":504,"title":"Gateway Timeout","detail":"The request took too long and was ended.",
			"instance":"%s"}
			""";

	private final WebApplicationContextRunner mvc = new WebApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class,
						TimingWheelProblemDetailsAutoConfiguration.class, JacksonAutoConfiguration.class,
						HttpMessageConvertersAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
						WebMvcAutoConfiguration.class, ErrorMvcAutoConfiguration.class))
		.withUserConfiguration(Controller.class, MvcRoutes.class);

	private final ReactiveWebApplicationContextRunner webFlux = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelProblemDetailsAutoConfiguration.class,
				JacksonAutoConfiguration.class, CodecsAutoConfiguration.class, HttpHandlerAutoConfiguration.class,
				WebFluxAutoConfiguration.class, ErrorWebFluxAutoConfiguration.class))
		.withUserConfiguration(Controller.class, WebFluxRoutes.class);

	@Test
	void anUncaughtTimeoutIsAProblemDetailAndAWarning(CapturedOutput output) {
		this.mvc.run((context) -> {
			for (String path : List.of("/blocking", "/future", "/wrapped", "/mono")) {
				assertThat(get(context, path)).as(path)
					.hasStatus(HttpStatus.GATEWAY_TIMEOUT)
					.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
					.bodyJson()
					.isLenientlyEqualTo(BODY.formatted(path));
			}
		});
		this.webFlux.run((context) -> {
			for (String path : List.of("/blocking", "/future", "/wrapped", "/mono", "/functional")) {
				assertStatus(context, path, HttpStatus.GATEWAY_TIMEOUT).expectHeader()
					.contentType(MediaType.APPLICATION_PROBLEM_JSON)
					.expectBody()
					.json(BODY.formatted(path));
			}
		});
		assertThat(output.toString()
			.lines()
			.filter((line) -> line.contains("WARN") && !line.contains("The timing wheel lags"))).hasSize(9)
			.allMatch((line) -> line.contains("did not finish within "));
		assertThat(output).doesNotContain("\tat ");
	}

	@Test
	void theExceptionHandlersOfTheApplicationComeFirst() {
		this.mvc.withUserConfiguration(CatchAll.class)
			.run((context) -> assertThat(get(context, "/blocking")).hasStatus(HttpStatus.LOCKED));
		this.webFlux.withUserConfiguration(CatchAll.class)
			.run((context) -> assertStatus(context, "/blocking", HttpStatus.LOCKED));
	}

	@ParameterizedTest
	@ValueSource(strings = { "timingwheel.timeout.problem-details=false", "timingwheel.enabled=false" })
	void canBeSwitchedOff(String property) {
		this.mvc.withPropertyValues(property)
			.run((context) -> assertFails(context, "/wrapped", TimeoutException.class));
		this.webFlux.withPropertyValues(property)
			.run((context) -> assertStatus(context, "/wrapped", HttpStatus.INTERNAL_SERVER_ERROR));
	}

	@Test
	void messagesOfTheApplicationReplaceTheTexts() {
		StaticMessageSource messages = new StaticMessageSource();
		messages.addMessage("problemDetail." + MethodTimeoutException.class.getName(), Locale.ENGLISH, "Try again.");
		this.mvc.withBean("messageSource", MessageSource.class, () -> messages)
			.withBean("messagesOfMails", MessageSource.class, StaticMessageSource::new)
			.run((context) -> assertThat(get(context, "/wrapped")).bodyJson()
				.extractingPath("$.detail")
				.isEqualTo("Try again."));
	}

	@Test
	void otherExceptionsAreLeftToLaterAdviceAndFunctionalEndpointsOfMvcAlone(CapturedOutput output) {
		this.mvc.withConfiguration(AutoConfigurations.of(OfLibrary.class)).run((context) -> {
			assertThat(get(context, "/other")).hasStatus(HttpStatus.LOCKED);
			assertFails(context, "/functional", TimeoutException.class);
			assertThat(get(context, "/unavailable")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
		});
		this.webFlux.withConfiguration(AutoConfigurations.of(OfLibrary.class)).run((context) -> {
			assertStatus(context, "/other", HttpStatus.LOCKED);
			assertStatus(context, "/unavailable", HttpStatus.SERVICE_UNAVAILABLE);
		});
		assertThat(output).doesNotContain("Failure in @ExceptionHandler");
	}

	private static MvcTestResult get(WebApplicationContext context, String path) {
		return MockMvcTester.from(context).get().uri(path).exchange();
	}

	private static void assertFails(WebApplicationContext context, String path, Class<? extends Exception> cause) {
		assertThat(get(context, path)).hasFailed().failure().hasRootCauseInstanceOf(cause);
	}

	private static WebTestClient.ResponseSpec assertStatus(ApplicationContext context, String path, HttpStatus status) {
		return WebTestClient.bindToApplicationContext(context)
			.configureClient()
			.responseTimeout(Duration.ofMinutes(1))
			.build()
			.get()
			.uri(path)
			.exchange()
			.expectStatus()
			.isEqualTo(status);
	}

	private static MethodTimeoutException timeout() {
		Method method = Objects.requireNonNull(ReflectionUtils.findMethod(Controller.class, "blocking"));
		return new MethodTimeoutException(method, Duration.ofMillis(200));
	}

	/** Handler methods need not be public. */
	@RestController
	static class Controller {

		@Timeout("20ms")
		@GetMapping("/blocking")
		public String blocking() throws InterruptedException {
			new CountDownLatch(1).await();
			return "late";
		}

		@Timeout("20ms")
		@GetMapping("/future")
		CompletableFuture<String> future() {
			return new CompletableFuture<>();
		}

		@Timeout("20ms")
		@GetMapping("/mono")
		protected Mono<String> mono() {
			return Mono.never();
		}

		@GetMapping("/wrapped")
		public String wrapped() {
			throw new CompletionException(timeout());
		}

		@GetMapping("/unavailable")
		public String unavailable() {
			throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "busy", timeout());
		}

		@GetMapping("/other")
		public String other() {
			throw new IllegalStateException();
		}

	}

	@AutoConfiguration(after = TimingWheelProblemDetailsAutoConfiguration.class)
	static class OfLibrary {

		@Bean
		CatchAll later() {
			return new CatchAll();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MvcRoutes {

		@Bean
		RouterFunction<ServerResponse> routes() {
			return route().GET("/functional", (request) -> {
				throw timeout();
			}).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WebFluxRoutes {

		@Bean
		org.springframework.web.reactive.function.server.RouterFunction<org.springframework.web.reactive.function.server.ServerResponse> routes() {
			return RouterFunctions.route(RequestPredicates.GET("/functional"), (request) -> Mono.error(timeout()));
		}

	}

	@ControllerAdvice
	static class CatchAll {

		@ExceptionHandler
		ResponseEntity<String> failed(Exception ex) {
			return ResponseEntity.status(HttpStatus.LOCKED).body("all");
		}

	}

}
