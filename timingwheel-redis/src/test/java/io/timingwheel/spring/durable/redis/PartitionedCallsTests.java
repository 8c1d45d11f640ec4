package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.durable.redis.PartitionedCalls.Answer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PartitionedCallsTests {

	private final List<List<Integer>> waves = new ArrayList<>();

	private final PartitionedCalls calls = new PartitionedCalls(3, Script.ENQUEUE, 0);

	@Test
	void theCallsOfAPartitionAreSentOneAfterAnother() {
		add(0, 1_001);
		add(2, 600);
		add(1, 1);
		List<Answer> answers = this.calls.run((sent) -> replies(sent, -1));
		assertThat(this.waves).containsExactly(List.of(0, 2, 1), List.of(0, 2), List.of(0));
		assertThat(answers.stream().flatMap((answer) -> answer.part().positions().stream())).hasSize(1_602)
			.doesNotHaveDuplicates();
		assertThat(answers.get(3).part().positions()).hasSize(500).startsWith(500);
	}

	@Test
	void afterOneThatHasFailedNoneOfItsPartitionIsSent() {
		add(0, 1_001);
		add(1, 1_001);
		List<Answer> answers = this.calls.run((sent) -> replies(sent, 1));
		assertThat(this.waves).containsExactly(List.of(0, 1), List.of(0), List.of(0));
		assertThat(answers).hasSize(6)
			.allSatisfy((answer) -> assertThat(answer.reply().failure() != null)
				.isEqualTo(answer.part().call().partition() == 1));
	}

	@Test
	void whatEarlierCallsHaveDoneIsKnownWhenNoMoreCanBeSent() {
		add(0, 501);
		List<Answer> answers = this.calls.run((sent) -> {
			if (!this.waves.isEmpty()) {
				throw new IllegalStateException("no connection");
			}
			return replies(sent, -1);
		});
		assertThat(answers).extracting((answer) -> answer.reply().failure() != null).containsExactly(false, true);
	}

	private void add(int partition, int count) {
		for (int i = 0; i < count; i++) {
			this.calls.add(partition, i);
		}
	}

	private List<ScriptReply> replies(List<ScriptCall> sent, int failing) {
		this.waves.add(sent.stream().map(ScriptCall::partition).toList());
		return sent.stream()
			.map((call) -> (call.partition() == failing) ? new ScriptReply(null, new IllegalStateException("gone"))
					: new ScriptReply(new Fields(List.of()), null))
			.toList();
	}

}
