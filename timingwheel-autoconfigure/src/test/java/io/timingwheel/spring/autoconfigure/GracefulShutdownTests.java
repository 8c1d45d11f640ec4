package io.timingwheel.spring.autoconfigure;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

class GracefulShutdownTests {

	@Test
	void aRequestThatIsInProgressMayScheduleATaskAndTheTaskRuns() throws Exception {
		ServletWebServerApplicationContext context = (ServletWebServerApplicationContext) new SpringApplicationBuilder(
				Application.class)
			.run("--server.port=0", "--server.shutdown=graceful", "--timingwheel.shutdown.pending=run",
					"--spring.data.redis.repositories.enabled=false");
		Application application = context.getBean(Application.class);
		URI uri = URI.create("http://localhost:%d/order".formatted(context.getWebServer().getPort()));
		// The response may be lost: for Tomcat a request ends when the servlet returns.
		HttpClient.newHttpClient().sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
		application.requested.await();
		context.close();
		assertThat(application.ran).isCompletedWithValue("task");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = { DataSourceAutoConfiguration.class, JacksonAutoConfiguration.class })
	@RestController
	static class Application {

		private final CountDownLatch requested = new CountDownLatch(1);

		private final CountDownLatch closing = new CountDownLatch(1);

		private final CompletableFuture<String> ran = new CompletableFuture<>();

		@Autowired
		private DelayedTaskOperations tasks;

		@GetMapping("/order")
		void order() throws InterruptedException {
			this.requested.countDown();
			this.closing.await();
			this.tasks.schedule(Duration.ofMillis(10), () -> this.ran.complete("task"));
		}

		@EventListener(ContextClosedEvent.class)
		void closing() {
			this.closing.countDown();
		}

	}

}
