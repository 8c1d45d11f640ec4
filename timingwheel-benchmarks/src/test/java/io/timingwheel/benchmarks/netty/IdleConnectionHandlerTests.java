package io.timingwheel.benchmarks.netty;

import java.time.Duration;

import io.netty.channel.embedded.EmbeddedChannel;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the example that docs/engine.md names.
 */
class IdleConnectionHandlerTests {

	private final ManualTimeSource clock = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.clock).build();

	@Test
	void connectionIsClosedAfterThirtySecondsWithoutARead() {
		EmbeddedChannel channel = connect();
		for (int i = 0; i < 10; i++) {
			this.clock.advance(Duration.ofSeconds(29));
			channel.writeInbound("packet");
			assertThat((String) channel.readInbound()).isEqualTo("packet");
		}
		this.clock.advance(Duration.ofSeconds(29));
		channel.runPendingTasks();
		assertThat(channel.isOpen()).isTrue();
		this.clock.advance(Duration.ofSeconds(1));
		channel.runPendingTasks();
		assertThat(channel.isOpen()).isFalse();
		assertThat(this.wheel.snapshot().rescheduled()).isEqualTo(10);
	}

	@Test
	void closedConnectionLeavesNoTimer() {
		EmbeddedChannel channel = connect();
		assertThat(this.wheel.pending()).isOne();
		channel.close();
		assertThat(this.wheel.pending()).isZero();
	}

	private EmbeddedChannel connect() {
		return new EmbeddedChannel(new IdleConnectionHandler(this.wheel, Duration.ofSeconds(30)));
	}

}
