package io.timingwheel.spring.faults;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.faults.TransactionalWorker.Step;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Nodes that end while a transaction settles a task. */
@ParameterizedClass
@EnumSource(names = { "POSTGRESQL", "MARIADB" })
class TransactionFaultTests extends FaultTestSupport {

	@Test
	void aNodeThatEndsAtAnyStepLeavesOneEffectPerTask() {
		List<Step> steps = List.of(Step.BEGUN, Step.CHANGED, Step.ACKNOWLEDGED, Step.COMMITTING, Step.COMMITTING,
				Step.COMMITTED);
		this.client.jdbc().execute("create table if not exists effect (number bigint not null)");
		this.client.jdbc().update("delete from effect");
		for (int i = 0; i < steps.size(); i += 2) {
			List<NodeProcess> two = Stream.of(i, i + 1).map((number) -> startNode("halting-" + number)).toList();
			two.forEach(FaultTestSupport::paused);
			for (int number = i; number < i + 2; number++) {
				NodeProcess node = two.get(number - i);
				node.tell("resume");
				this.client.template()
					.enqueue(TaskId.of(TransactionalWorker.NAME, number), Duration.ZERO, number, steps.get(number));
				node.awaitEnd();
				assertThat(runs().get((long) number)).extracting(Execution::node).containsExactly(node.id());
			}
		}
		startNode("last");
		awaitEmptyStore();
		assertThat(this.client.jdbc().queryForList("select number from effect order by number", Long.class))
			.containsExactlyElementsOf(LongStream.range(0, steps.size()).boxed().toList());
	}

}
