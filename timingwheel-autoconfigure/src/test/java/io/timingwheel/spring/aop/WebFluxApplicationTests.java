package io.timingwheel.spring.aop;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.webflux.autoconfigure.HttpHandlerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The annotations work in a WebFlux application, also on its controllers.
 */
class WebFluxApplicationTests {

	private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
				HttpHandlerAutoConfiguration.class, WebFluxAutoConfiguration.class, TimingWheelAutoConfiguration.class))
		.withBean("orders", Orders.class)
		.withBean(OrderController.class);

	@Test
	void aRequestSchedulesATask() {
		this.runner.run((context) -> {
			client(context).get().uri("/close/5").exchange().expectStatus().isOk();
			assertThat(context.getBean(DelayedTaskOperations.class).find(TaskId.of("orders.close", 5))).isPresent();
		});
	}

	@Test
	void aRequestIsLimited() {
		this.runner.run((context) -> client(context).get()
			.uri("/quote")
			.exchange()
			.expectBody(String.class)
			.isEqualTo("timed out"));
	}

	private static WebTestClient client(ApplicationContext context) {
		return WebTestClient.bindToApplicationContext(context)
			.configureClient()
			.responseTimeout(Duration.ofSeconds(20))
			.build();
	}

	static class Orders {

		@Delayed(delay = "1h", key = "#id")
		public void close(long id) {
		}

	}

	@RestController
	static class OrderController {

		private final Orders orders;

		OrderController(Orders orders) {
			this.orders = orders;
		}

		@GetMapping("/close/{id}")
		Mono<String> close(@PathVariable("id") long id) {
			return Mono.fromRunnable(() -> this.orders.close(id)).thenReturn("closing");
		}

		@GetMapping("/quote")
		@Timeout("10ms")
		public Mono<String> quote() {
			return Mono.never();
		}

		@ExceptionHandler
		String handle(MethodTimeoutException ex) {
			return "timed out";
		}

	}

}
