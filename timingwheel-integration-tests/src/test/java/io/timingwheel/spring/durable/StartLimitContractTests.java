package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The contract of names that are paused or whose starts are limited, over all nodes of a
 * store.
 */
public abstract class StartLimitContractTests extends StoreTestSupport {

	private final List<TestNode> nodes = new ArrayList<>();

	private final Queue<Integer> runs = new ConcurrentLinkedQueue<>();

	@AfterEach
	void closeNodes() throws Exception {
		for (TestNode node : this.nodes) {
			node.close();
		}
	}

	private TestNode node(TestNode node) {
		this.nodes.add(node);
		return node;
	}

	private TestNode start(DelayedTaskStore store) {
		return node(TestNode.start(store, (number, context) -> this.runs.add(number)));
	}

	@Test
	void allNodesReadTheNamesThatArePaused() {
		assertThat(this.store.pausedNames()).isEmpty();
		this.store.setPaused("bill", true);
		this.store.setPaused("mail", true);
		this.store.setPaused("mail", true);
		assertThat(this.other.pausedNames()).containsExactlyInAnyOrder("bill", "mail");
		this.other.setPaused("bill", false);
		this.other.setPaused("never paused", false);
		assertThat(this.store.pausedNames()).containsExactly("mail");
		assertThatIllegalArgumentException().isThrownBy(() -> this.store.setPaused("x".repeat(256), true));
	}

	@Test
	void aPausedNameIsNotStartedByAnyNodeAndItsTasksStayPending() {
		TestNode first = start(this.store);
		TestNode second = start(this.other);
		first.enqueue("leased", Duration.ofSeconds(1), 1);
		first.durable().setPaused(TestNode.NAME, true);
		assertThat(first.durable().isPaused(TestNode.NAME)).isTrue();
		await().until(() -> second.durable().isPaused(TestNode.NAME));
		first.enqueue("a", Duration.ofMillis(1), 2);
		second.enqueue("b", Duration.ZERO, 3);
		await().until(() -> this.store.counts().get(TestNode.NAME).overdue() == 3);
		assertThat(this.runs).isEmpty();
		assertThat(this.store.cancel(TaskId.of(TestNode.NAME, "b"))).isTrue();
		assertThat(this.store.find(TaskId.of(TestNode.NAME, "a"))).isPresent();
		second.durable().setPaused(TestNode.NAME, false);
		await().until(() -> this.runs.size() == 2);
		await().until(() -> !first.durable().isPaused(TestNode.NAME));
		assertThat(this.runs).containsExactlyInAnyOrder(1, 2);
	}

	@Test
	void aBodyThatRunsWhenItsNameIsPausedGoesOn() {
		LeasedTask task = begun("k");
		this.store.setPaused(NAME, true);
		assertThat(this.store.renew(refs(task), LEASE)).containsExactly(Reply.DONE);
		assertThat(acknowledge(this.store, task.ref())).isEqualTo(Reply.DONE);
	}

}
