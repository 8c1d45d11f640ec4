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
		Number order;
		Number paid;
		PackagedApplication application = start();
		try {
			paid = application.paidOrder();
			order = application.order();
		}
		finally {
			application.kill();
		}
		PackagedApplication again = start();
		try {
			await().atMost(Duration.ofMinutes(2)).until(() -> again.order(order).get("status").equals("CLOSED"));
			Map<String, Object> closed = again.order(order);
			assertThat(Instant.parse((String) closed.get("settledAt")))
				.isAfterOrEqualTo(Instant.parse((String) closed.get("closesAt")));
			assertThat(again.order(paid)).containsEntry("status", "PAID");
		}
		finally {
			again.stop();
		}
	}

	private PackagedApplication start() throws IOException {
		return PackagedApplication.start(this.directory, "-DDATA_DIR=" + this.directory.resolve("data"),
				"--spring.profiles.active=durable", "--orders.payment-window=8s");
	}

}
