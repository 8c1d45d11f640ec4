package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.redis.TaskBatch.Answer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TaskBatchTests {

	private final List<List<Integer>> waves = new ArrayList<>();

	private final TaskBatch batch = new TaskBatch(new Partitions("test", 3), Script.ENQUEUE);

	@Test
	void theCallsOfAPartitionAreSentOneAfterAnother() {
		add(0, 1_001);
		add(2, 600);
		add(1, 1);
		List<Answer> answers = this.batch.run((sent) -> replies(sent, -1));
		assertThat(this.waves).containsExactly(List.of(0, 2, 1), List.of(0, 2), List.of(0));
		assertThat(answers.stream().flatMap((answer) -> answer.positions().stream())).hasSize(1_602)
			.doesNotHaveDuplicates();
		assertThat(answers.get(3).positions()).hasSize(500).startsWith(500);
	}

	@Test
	void afterAFailureNoMoreCallsAreSentToThePartition() {
		add(0, 1_001);
		add(1, 1_001);
		List<Answer> answers = this.batch.run((sent) -> replies(sent, 1));
		assertThat(this.waves).containsExactly(List.of(0, 1), List.of(0), List.of(0));
		assertThat(answers).hasSize(6)
			.allSatisfy((answer) -> assertThat(answer.reply().failure() != null)
				.isEqualTo(answer.reply().partition() == 1));
	}

	@Test
	void theAnswersOfEarlierCallsAreKeptWhenNoMoreCanBeSent() {
		add(0, 501);
		List<Answer> answers = this.batch.run((sent) -> {
			if (!this.waves.isEmpty()) {
				throw new IllegalStateException("no connection");
			}
			return replies(sent, -1);
		});
		assertThat(answers).extracting((answer) -> answer.reply().failure() != null).containsExactly(false, true);
	}

	private void add(int partition, int count) {
		for (int i = 0; i < count; i++) {
			this.batch.add(partition, i);
		}
	}

	private List<ScriptReply> replies(List<Call> sent, int failing) {
		this.waves.add(sent.stream().map(Call::partition).toList());
		return sent.stream()
			.map((call) -> (call.partition() == failing)
					? ScriptReply.failed(failing, new IllegalStateException("gone"))
					: ScriptReply.of(call.partition(), List.of()))
			.toList();
	}

}
