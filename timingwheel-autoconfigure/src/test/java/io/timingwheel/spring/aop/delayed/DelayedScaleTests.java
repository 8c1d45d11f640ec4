package io.timingwheel.spring.aop.delayed;

import java.util.function.IntConsumer;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** A pending call takes little memory. */
@Tag("measuring")
class DelayedScaleTests {

	private static final int CALLS = 500_000;

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Drivers.class);

	@Test
	void aPendingCallWithALongAsItsKeyAndOnlyArgumentTakesLessThan230Bytes(Drivers drivers) {
		assertThat(bytesPerCall((i) -> drivers.offline(1_000_000L + i))).isBetween(100L, 230L);
	}

	@Test
	void aPendingCallWithATextOf13CharactersAndANumberTakesLessThan250Bytes(Drivers drivers) {
		assertThat(bytesPerCall((i) -> drivers.silent("driver-" + (100_000 + i), i))).isBetween(100L, 250L);
	}

	private static long bytesPerCall(IntConsumer call) {
		call.accept(-1);
		long before = usedMemory();
		for (int i = 0; i < CALLS; i++) {
			call.accept(i);
		}
		long bytes = (usedMemory() - before) / CALLS;
		assertThat(app.pending()).isEqualTo(CALLS + 1);
		return bytes;
	}

	private static long usedMemory() {
		Runtime runtime = Runtime.getRuntime();
		for (int i = 0; i < 5; i++) {
			System.gc();
		}
		return runtime.totalMemory() - runtime.freeMemory();
	}

	static class Drivers {

		@Delayed(delay = "10m", key = "#driver")
		public void silent(String driver, int report) {
		}

		@Delayed(delay = "10m", key = "#driver")
		public void offline(long driver) {
		}

	}

}
