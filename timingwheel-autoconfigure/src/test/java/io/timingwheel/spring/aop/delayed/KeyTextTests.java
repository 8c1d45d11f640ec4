package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Checks that a key whose text tells the identity of an object is refused.
 */
class KeyTextTests {

	@Test
	void aKeyWithoutATextOfItsOwnIsRefused() {
		Plain plain = new Plain();
		Runnable lambda = () -> {
		};
		DelayedContexts.runner().withBean(Reminders.class).run((context) -> {
			Reminders reminders = context.getBean(Reminders.class);
			DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
			Stream
				.<Object>of(plain, new WithHash(1), new Super(), new byte[] { 1 }, new String[] { "a" }, lambda,
						List.of(plain), List.of(new byte[0]), List.of(lambda), Map.of("a", plain), Optional.of(plain),
						new Pair("a", plain), new Pair("a", new int[0]), new Named(plain), "order-" + plain,
						new CompletableFuture<>())
				.forEach((key) -> {
					assertThatIllegalArgumentException().isThrownBy(() -> reminders.remind(key))
						.withMessageStartingWith("The key \"#key\" of ")
						.withMessageContaining("has no text of its own: the text of ")
						.withMessageContaining("such as an id");
					assertThatIllegalArgumentException().isThrownBy(() -> reminders.stop(key))
						.withMessageContaining("has no text of its own");
					assertThatIllegalArgumentException()
						.isThrownBy(() -> template.schedule(TaskId.of("t", key), Duration.ofMinutes(1), lambda))
						.withMessageContaining("has no text of its own");
				});
			assertThat(pending(context)).isZero();
			assertThatIllegalArgumentException().isThrownBy(() -> reminders.remind(List.of(plain)))
				.withMessageContaining(Plain.class.getName());
		});
	}

	@Test
	void aKeyWithATextIsAccepted() {
		DelayedContexts.runner().withBean(Reminders.class).run((context) -> {
			Reminders reminders = context.getBean(Reminders.class);
			List<Object> keys = List.of(5L, 6, "a", "john@cafe", "john.doe@example.com", "a@b", UUID.randomUUID(),
					TimeUnit.DAYS, List.of(1, "b"), Optional.of("c"), new Pair("a", 1), new WithText(0xcafe));
			for (int i = 0; i < keys.size(); i++) {
				reminders.remind(keys.get(i));
				reminders.remind(keys.get(i));
				assertThat(pending(context)).isEqualTo(i + 1);
			}
			keys.forEach(reminders::stop);
			assertThat(pending(context)).isZero();
		});
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

	static class Super {

		@Override
		@SuppressWarnings("RedundantMethod")
		public String toString() {
			return super.toString();
		}

	}

	static class Named {

		private final Object part;

		Named(Object part) {
			this.part = part;
		}

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
