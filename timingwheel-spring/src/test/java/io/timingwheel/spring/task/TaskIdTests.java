package io.timingwheel.spring.task;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** A key whose text tells the identity of an object is refused. */
class TaskIdTests {

	private static final Plain plain = new Plain();

	private static final Runnable lambda = () -> {
	};

	@Test
	void aKeyWithoutATextOfItsOwnIsRefused() {
		for (Object key : new Object[] { plain, new WithHash(), new byte[] { 1 }, new String[] { "a" }, lambda,
				List.of(plain), List.of(new byte[0]), List.of(lambda), Map.of("a", plain), Optional.of(plain),
				new Pair("a", plain), new Pair("a", new int[0]), new Named(plain), "order-" + plain, "a@b/c" + lambda,
				new CompletableFuture<>() }) {
			assertThatIllegalArgumentException().as("%s", key)
				.isThrownBy(() -> TaskId.of("t", key))
				.withMessageContaining("has no text of its own: the text of ")
				.withMessageContaining("such as an id");
		}
		assertThatIllegalArgumentException().isThrownBy(() -> TaskId.of("t", List.of(plain)))
			.withMessageContaining(Plain.class.getName());
	}

	@Test
	@Timeout(5)
	void aKeyWithATextIsAcceptedHoweverLongItIs() {
		for (Object key : new Object[] { 5L, 6, "a", "john@cafe", "john.doe@example.com", "a@b", UUID.randomUUID(),
				TimeUnit.DAYS, "a".repeat(15_000) + "!x@y", "\uD835\uDC9C".repeat(15_000) + "!x@y",
				"[La".repeat(20_000) + "@", List.of(1, "b"), Optional.of("c"), new Pair("a", 1), new WithText() }) {
			assertThat(TaskId.of("t", key).key()).isEqualTo(key.toString());
		}
	}

	static class Plain {

	}

	static class WithHash {

		@Override
		public int hashCode() {
			return 1;
		}

		@Override
		public boolean equals(Object other) {
			return other == this;
		}

	}

	static class WithText {

		@Override
		public String toString() {
			return getClass().getName() + "@cafe";
		}

	}

	record Pair(String first, Object second) {

	}

	record Named(Object part) {

		@Override
		public String toString() {
			return "Named{part=" + this.part + "}";
		}

	}

}
