package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.redis.RedisCluster;
import io.timingwheel.spring.durable.redis.RedisStoreOptions;
import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A primary dies while a slot moves. */
@ParameterizedClass
@EnumSource(names = "REDIS_CLUSTER")
class RedisClusterFaultTests extends FaultTestSupport {

	@Test
	void nothingIsLostWhenAPrimaryAndANodeAreKilledAndASlotMovesWhileTasksFallDue() throws Exception {
		RedisCluster cluster = (RedisCluster) this.server.process();
		List<NodeProcess> nodes = startNodes("a", "b");
		NodeProcess killed = nodes.get(0);
		NodeProcess other = nodes.get(1);
		long saidBefore = other.logged(PARTLY_GONE);
		int tasks = 2000;
		Instant due = Instant.now().plus(SOON);
		List<String> names = List.of(Worker.NAME, Worker.SECOND, Worker.THIRD);
		IntStream.range(0, tasks)
			.parallel()
			.forEach((i) -> this.client.template()
				.enqueue(TaskId.of(names.get(i % 3), i), due.plusMillis(15_000L * i / tasks), (long) i, 20L));
		await(() -> this.executions.started() > 200);
		// The first name is in the first partition
		CompletableFuture<Void> meanwhile = CompletableFuture.runAsync(() -> LongStream.range(tasks, tasks + 200)
			.forEach((i) -> this.client.enqueue(i, 1, Instant.now(), Duration.ZERO, 0)));
		cluster.move(RedisStoreOptions.DEFAULTS.namespace(), 0);
		meanwhile.join();
		await(() -> this.executions.started() > 600);
		assertThat(runs().values()).as("the move repeats no run").allMatch((runs) -> runs.size() == 1);
		cluster.process(1).kill();
		await(() -> nodes.stream().noneMatch(FaultTestSupport::isUp));
		// The third name is on the last primary, which goes on.
		List<Long> later = LongStream.range(tasks + 200, tasks + 400).boxed().toList();
		later.forEach((i) -> this.client.template().enqueue(TaskId.of(Worker.THIRD, i), Instant.now(), i, 0L));
		await(() -> runs().keySet().containsAll(later));
		killed.kill();
		cluster.process(1).start();
		await(() -> isUp(other));
		awaitEnded(tasks + 400);
		assertThat(this.executions.all()).extracting(Execution::attempt).containsOnly(1);
		assertNeverEarly();
		// The node logs this again when the server loads its data, and for the former
		// primary of the slot until it knows of the move: a few times, not once per task.
		assertThat(other.logged(PARTLY_GONE)).isBetween(saidBefore + 1, saidBefore + 10);
		assertThat(other.log().lines().filter((line) -> line.contains(PARTLY_GONE)).skip(saidBefore))
			.anyMatch((line) -> line.contains(cluster.address(1)));
	}

}
