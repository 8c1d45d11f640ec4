package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class WheelLoopTests {

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

	private final List<Long> rounds = new ArrayList<>();

	private int work;

	private Consumer<WheelLoop> round = (loop) -> loop.await(SECOND);

	private WheelLoop loop;

	@BeforeEach
	void create() {
		this.loop = new WheelLoop(this.wheel, () -> {
			this.rounds.add(this.time.nanoTime() / SECOND);
			this.round.accept(this.loop);
		}, () -> this.work++, true);
	}

	@Test
	void roundsFollowOneAnotherWhenTheTimeIsMoved() {
		this.loop.wake();
		advance(1);
		assertThat(this.rounds).isEmpty();
		this.loop.start();
		advance(3);
		assertThat(this.rounds).containsExactly(1L, 2L, 3L, 4L);
		assertThat(this.work).isZero();
	}

	@Test
	void aRoundThatDoesNotWaitIsFollowedByAnotherAtOnce() {
		this.round = (loop) -> loop.await((this.rounds.size() < 3) ? 0 : Long.MAX_VALUE);
		this.loop.start();
		advance(100);
		assertThat(this.rounds).containsExactly(0L, 0L, 0L);
		assertThat(this.work).isEqualTo(2);
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aLoopIsWokenDuringARoundAndBetweenRounds() {
		this.round = (loop) -> {
			if (this.rounds.size() == 1) {
				loop.wake();
			}
			loop.await(Long.MAX_VALUE);
		};
		this.loop.start();
		advance(1);
		assertThat(this.rounds).containsExactly(0L, 0L);
		this.loop.wake();
		advance(1);
		assertThat(this.rounds).containsExactly(0L, 0L, 1L);
	}

	@Test
	void aLoopThatFailsRestsUntilItIsRoused() {
		this.round = (loop) -> {
			throw new IllegalStateException("expected");
		};
		this.loop.start();
		advance(10);
		this.loop.wake();
		advance(10);
		assertThat(this.rounds).hasSize(1);
		this.loop.rouse();
		advance(10);
		assertThat(this.rounds).hasSize(2);
	}

	@Test
	void aWokenLoopCanRunAtOnceAndAStoppedOneNever() {
		this.loop.start();
		assertThat(this.loop.flush()).isTrue();
		assertThat(this.loop.flush()).isFalse();
		assertThat(this.rounds).hasSize(1);
		this.loop.stop();
		this.loop.rouse();
		advance(10);
		assertThat(this.rounds).hasSize(1);
		assertThat(this.wheel.pending()).isZero();
	}

	private void advance(int seconds) {
		this.time.advance(Duration.ofSeconds(seconds));
	}

}
