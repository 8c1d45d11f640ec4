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
import org.jspecify.annotations.Nullable;
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
		assertRefused(() -> reminders.remind(key), "The expression \"#key\" of @Delayed(key) on ",
				"has no text of its own: the text of ", "such as an id");
		assertRefused(() -> reminders.stop(key), "has no text of its own");
		assertRefused(() -> app.tasks().schedule(TaskId.of("t", key), Duration.ofMinutes(1), lambda),
				"has no text of its own");
		assertThat(app.pending()).isZero();
	}

	@Test
	void theMessageNamesTheClassWithinACollectionAndNullIsNoKey(Reminders reminders) {
		assertRefused(() -> reminders.remind(List.of(plain)), Plain.class.getName());
		assertRefused(() -> reminders.stop(null), "must not be null");
		assertThat(app.calls()).isEmpty();
	}

	private static void assertRefused(Runnable call, String... texts) {
		assertThatIllegalArgumentException().isThrownBy(call::run)
			.satisfies((ex) -> assertThat(ex.getMessage()).contains(texts));
	}

	static Stream<Object> aKeyWithATextIsAccepted() {
		return Stream.of(5L, 6, "a", "john@cafe", "john.doe@example.com", "a@b", UUID.randomUUID(), TimeUnit.DAYS,
				List.of(1, "b"), Optional.of("c"), new Pair("a", 1), new WithText());
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
		public void stop(@Nullable Object key) {
			app.calls().add("stopped");
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

		@Override
		public String toString() {
			return getClass().getName() + "@cafe";
		}

	}

}
