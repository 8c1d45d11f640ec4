package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A key whose text tells the identity of an object is refused.
 */
class KeyTextTests {

	private static final Plain plain = new Plain();

	private static final Runnable lambda = () -> {
	};

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Reminders.class);

	static Stream<Arguments> aKeyWithoutATextOfItsOwnIsRefused() {
		return Stream
			.<Object>of(plain, new WithHash(1), new byte[] { 1 }, new String[] { "a" }, lambda, List.of(plain),
					List.of(new byte[0]), List.of(lambda), Map.of("a", plain), Optional.of(plain), new Pair("a", plain),
					new Pair("a", new int[0]), new Named(plain), "order-" + plain, new CompletableFuture<>())
			.map((key) -> Arguments.of(key));
	}

	@ParameterizedTest
	@MethodSource
	void aKeyWithoutATextOfItsOwnIsRefused(Object key) {
		Reminders reminders = app.bean(Reminders.class);
		assertThatIllegalArgumentException().isThrownBy(() -> reminders.remind(key))
			.withMessageStartingWith("The expression \"#key\" of @Delayed(key) on ")
			.withMessageContaining("has no text of its own: the text of ")
			.withMessageContaining("such as an id");
		assertThatIllegalArgumentException().isThrownBy(() -> reminders.stop(key))
			.withMessageContaining("has no text of its own");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> app.tasks().schedule(TaskId.of("t", key), Duration.ofMinutes(1), lambda))
			.withMessageContaining("has no text of its own");
		assertThat(app.pending()).isZero();
	}

	@Test
	void theMessageNamesTheClassWithinACollection(Reminders reminders) {
		assertThatIllegalArgumentException().isThrownBy(() -> reminders.remind(List.of(plain)))
			.withMessageContaining(Plain.class.getName());
	}

	static Stream<Object> aKeyWithATextIsAccepted() {
		return Stream.of(5L, 6, "a", "john@cafe", "john.doe@example.com", "a@b", UUID.randomUUID(), TimeUnit.DAYS,
				List.of(1, "b"), Optional.of("c"), new Pair("a", 1), new WithText(0xcafe));
	}

	@ParameterizedTest
	@MethodSource
	void aKeyWithATextIsAccepted(Object key) {
		Reminders reminders = app.bean(Reminders.class);
		reminders.remind(key);
		reminders.remind(key);
		assertThat(app.pending()).isOne();
		reminders.stop(key);
		assertThat(app.pending()).isZero();
	}

	static class Reminders {

		@Delayed(delay = "1m", name = "remind", key = "#key")
		public void remind(Object key) {
		}

		@CancelDelayed(name = "remind", key = "#key")
		public void stop(Object key) {
		}

	}

	static class Plain {

	}

	record Pair(String first, Object second) {

	}

	static class WithHash {

		private final int hash;

		WithHash(int hash) {
			this.hash = hash;
		}

		@Override
		public int hashCode() {
			return this.hash;
		}

		@Override
		public boolean equals(Object other) {
			return other == this;
		}

	}

	record Named(Object part) {

		@Override
		public String toString() {
			return "Named{part=" + this.part + "}";
		}

	}

	static class WithText {

		private final int id;

		WithText(int id) {
			this.id = id;
		}

		@Override
		public String toString() {
			return getClass().getName() + "@" + Integer.toHexString(this.id);
		}

	}

}
