package io.timingwheel.test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@ExtendWith(VirtualTimeExtension.class)
class VirtualTimeExtensionTests {

	private VirtualTime before;

	@BeforeEach
	void begin(VirtualTime time) {
		this.before = time;
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void eachInvocationHasATimeOfItsOwn(int hours, VirtualTime time, DelayedTaskOperations tasks) {
		assertThat(time).isSameAs(this.before);
		assertThat(time).hasNothingPending();
		tasks.schedule(Duration.ofHours(hours), () -> {
		});
		assertThat(time).hasPending("unnamed").dueIn(Duration.ofHours(hours));
	}

	@RepeatedTest(2)
	void eachRepetitionToo(VirtualTime time, DelayedTaskOperations tasks) {
		assertThat(time).hasNothingPending();
		tasks.task(() -> {
		}).name("beat").every(Duration.ofSeconds(1));
	}

	@Test
	void aResetCancelsWhatTheMethodRepeats(VirtualTime time, DelayedTaskOperations tasks, TimingWheel wheel) {
		AtomicInteger runs = new AtomicInteger();
		DelayedTask<Void> beat = tasks.task(() -> {
			runs.incrementAndGet();
		}).name("beat").every(Duration.ofSeconds(1));
		wheel.schedule(runs::incrementAndGet, Duration.ofSeconds(1));
		time.reset();
		time.advance(Duration.ofMinutes(1));
		assertThat(runs).hasValue(0);
		assertThat(beat).isCancelled();
		assertThat(time).hasNothingPending();
	}

	@Test
	void theExceptionOfATimerIsThrown(VirtualTime time, TimingWheel wheel) {
		IllegalStateException failure = new IllegalStateException("timer");
		wheel.schedule(() -> {
			throw failure;
		}, Duration.ofSeconds(1));
		assertThatIllegalStateException().isThrownBy(() -> time.advance(Duration.ofMinutes(1))).isSameAs(failure);
	}

}
