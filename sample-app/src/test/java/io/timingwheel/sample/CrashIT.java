package io.timingwheel.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The profile {@code durable}: an order survives a kill of the process, and closes at its
 * time.
 */
@Tag("faults")
class CrashIT {

	@TempDir
	private Path directory;

	@Test
	void anOrderClosesAtItsTimeAlthoughTheApplicationWasKilled() throws Exception {
		Orders placed = placeAndKill();
		PackagedApplication again = start();
		try {
			await().atMost(Duration.ofMinutes(2))
				.until(() -> again.order(placed.unpaid()).get("status").equals("CLOSED"));
			assertThat(instant(again.order(placed.unpaid()), "settledAt")).isAfterOrEqualTo(placed.closesAt());
			assertThat(again.order(placed.paid())).containsEntry("status", "PAID");
		}
		finally {
			again.stop();
		}
	}

	/**
	 * Places two orders, and kills the application before the unpaid one closes. If the
	 * machine stalls until that order may have closed, other orders are placed.
	 */
	private Orders placeAndKill() throws Exception {
		for (int attempt = 1;; attempt++) {
			PackagedApplication application = start();
			Orders placed;
			try {
				Number paid = application.placePaidOrder();
				Number unpaid = application.placeOrder();
				placed = new Orders(paid, unpaid, instant(application.order(unpaid), "closesAt"));
			}
			finally {
				application.kill();
			}
			if (Instant.now().isBefore(placed.closesAt())) {
				return placed;
			}
			assertThat(attempt).as("kills that came too late").isLessThan(5);
		}
	}

	private static Instant instant(Map<String, Object> order, String field) {
		return Instant.parse((String) order.get(field));
	}

	private PackagedApplication start() throws IOException {
		return PackagedApplication.start(this.directory, "-DDATA_DIR=" + this.directory.resolve("data"),
				"--spring.profiles.active=durable", "--orders.payment-window=8s");
	}

	private record Orders(Number paid, Number unpaid, Instant closesAt) {

	}

}
