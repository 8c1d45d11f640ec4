package io.timingwheel.spring.durable.redis;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PartitionsTests {

	private final Partitions partitions = new Partitions("test", 16);

	@Test
	void theSameTextSplitOtherwiseIntoNameAndKeyHasAnotherField() {
		assertThat(Partitions.holderField(new TaskId("ab", "c")))
			.isNotEqualTo(Partitions.holderField(new TaskId("a", "bc")));
	}

	@Test
	void aNameThatDoesNotFitIntoItsLengthByteIsRefused() {
		String longest = "x".repeat(DelayedTaskStore.MAX_NAME_BYTES);
		assertThat(Partitions.holderField(new TaskId(longest, "k"))).hasSize(257).startsWith(0xFF);
		assertThatIllegalArgumentException().isThrownBy(() -> Partitions.holderField(new TaskId(longest + "x", "k")))
			.withMessageContaining("256 bytes")
			.withMessageContaining("255");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Partitions.holderField(new TaskId("\u00e4".repeat(128), "k")));
	}

	@Test
	void keysAreSpreadOverAllPartitions() {
		Set<Integer> used = IntStream.range(0, 1000)
			.mapToObj((i) -> this.partitions.of(Partitions.holderField(TaskId.of("close-order", i))))
			.collect(Collectors.toSet());
		assertThat(used).hasSize(16).allMatch((partition) -> partition >= 0 && partition < 16);
	}

	@Test
	void namesHaveTheOrderOfTheIndex() {
		assertThat(Partitions.inIndexOrder(Set.of("b", "ab", "a", "\u00e9", "z9", "", "B"))).containsExactly("", "B",
				"a", "b", "ab", "z9", "\u00e9");
	}

	@Test
	void anIdTellsThePartitionOfItsTask() {
		assertThat(this.partitions.locate(Partitions.publicId(15, "id.of"))).satisfies((id) -> {
			assertThat(id.partition()).isEqualTo(15);
			assertThat(id.id()).isEqualTo("id.of");
		});
		assertThat(this.partitions.locate("id.16")).isNull();
		assertThat(this.partitions.locate("id.x")).isNull();
		assertThat(this.partitions.locate(".3")).isNull();
		assertThat(this.partitions.locate("id")).isNull();
		assertThat(this.partitions.locate("+id.3")).isNull();
	}

}
