package io.timingwheel.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The profile {@code durable}: an order survives a kill of the process, and closes at its
 * time.
 */
class CrashIT {

	@TempDir
	private Path directory;

	@Test
	void anOrderClosesAtItsTimeAlthoughTheApplicationWasKilled() throws Exception {
		PackagedApplication application = start();
		Number order = application.order();
		Number paid = application.order();
		application.http().post().uri("/orders/{id}/pay", paid).exchange().expectStatus().isOk();
		application.kill();
		application = start();
		try {
			PackagedApplication again = application;
			await().atMost(Duration.ofSeconds(30)).until(() -> again.order(order).get("status").equals("CLOSED"));
			Map<String, Object> closed = application.order(order);
			assertThat(Instant.parse((String) closed.get("settledAt")))
				.isAfterOrEqualTo(Instant.parse((String) closed.get("closesAt")));
			assertThat(application.order(paid)).containsEntry("status", "PAID");
		}
		finally {
			application.stop();
		}
	}

	private PackagedApplication start() throws IOException {
		return PackagedApplication.start(this.directory, "-DDATA_DIR=" + this.directory.resolve("data"),
				"--spring.profiles.active=durable", "--orders.payment-window=5s");
	}

}
