package io.timingwheel.spring.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.timingwheel.spring.faults.Executions.Execution;
import io.timingwheel.spring.task.TaskId;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;

import static org.assertj.core.api.Assertions.assertThat;

/** A server, a client, and nodes in JVMs of their own, which end with the test. */
@Tag("faults")
@Isolated
@TestInstance(Lifecycle.PER_CLASS)
@ExtendWith(FaultTestSupport.ShowLogs.class)
abstract class FaultTestSupport {

	/** The lease of all nodes unless a test sets another one. */
	static final Duration LEASE = Duration.ofSeconds(6);

	/** A node that stalls for some time does not lose this lease. */
	static final String LONG_LEASE = "timingwheel.store.lease=2m";

	static final Duration POLL_INTERVAL = Duration.ofMillis(250);

	static final int MAX_IN_FLIGHT = 800;

	static final Duration SOON = Duration.ofSeconds(3);

	static final String PARTLY_GONE = "A part of the store of durable tasks does not answer";

	static final String GONE = "is unavailable";

	static final String BACK = "accepts all requests again, after";

	private static final long TICK_MILLIS = 1;

	/** A test may take long on a machine that is busy with other work. */
	private static final Duration PATIENCE = Duration.ofMinutes(6);

	@Parameter
	FaultServer.Type store;

	FaultServer server;

	private final List<NodeProcess> nodes = new ArrayList<>();

	private List<String> properties;

	Executions executions;

	Client client;

	@BeforeParameterizedClassInvocation
	void start() throws Exception {
		this.server = this.store.start();
		this.properties = new ArrayList<>(List.of("spring.main.banner-mode=off",
				"spring.data.redis.repositories.enabled=false", "spring.datasource.hikari.connection-timeout=1000",
				"spring.datasource.hikari.maximum-pool-size=10", "spring.datasource.hikari.minimum-idle=1",
				"timingwheel.store.jdbc.initialize-schema=always", "spring.task.execution.pool.core-size=64",
				"logging.level.io.timingwheel=info", "logging.level.com.zaxxer.hikari=off",
				"timingwheel.store.look-ahead=4s", "timingwheel.store.max-in-flight=" + MAX_IN_FLIGHT,
				"timingwheel.store.lease=" + LEASE, "timingwheel.store.poll-interval=" + POLL_INTERVAL,
				"faults.executions=" + Executions.server()));
		this.properties.addAll(this.server.properties());
		this.executions = new Executions(Executions.server(), "test");
		// The client waits longer for a connection than the nodes.
		this.client = new Client(with("spring.datasource.hikari.connection-timeout=10000"));
	}

	@AfterParameterizedClassInvocation
	void end() throws Exception {
		this.client.close();
		this.executions.close();
		this.server.close();
	}

	@BeforeEach
	void clear() {
		this.client.clear();
		this.executions.clear();
	}

	@AfterEach
	void killNodes() {
		this.nodes.forEach(NodeProcess::kill);
		this.nodes.clear();
	}

	/** Nodes with the usual settings, which claim tasks. */
	List<NodeProcess> startNodes(String... ids) {
		List<NodeProcess> started = Arrays.stream(ids).map(this::startNode).toList();
		started.forEach(NodeProcess::awaitReady);
		return started;
	}

	/**
	 * Starts a node, and does not wait for it.
	 * @param properties precede those of all nodes
	 */
	NodeProcess startNode(String id, String... properties) {
		return startNode(NodeProcess.PRESENT, id, properties);
	}

	NodeProcess startNode(NodeProcess.Program program, String id, String... properties) {
		try {
			NodeProcess node = new NodeProcess(program, id, with(properties));
			this.nodes.add(node);
			return node;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private List<String> with(String... properties) {
		List<String> all = new ArrayList<>(this.properties);
		for (String property : properties) {
			String name = property.substring(0, property.indexOf('=') + 1);
			all.removeIf((other) -> other.startsWith(name));
			all.add(property);
		}
		return all;
	}

	/** Pauses a node, and waits for the end of a claim that is in progress. */
	static NodeProcess paused(NodeProcess node) {
		node.awaitReady().tell("pause");
		await(() -> node.ask("in-flight") == 0);
		return node;
	}

	/**
	 * Whether the last message of the node about the store reports that the store is
	 * available.
	 */
	static boolean isUp(NodeProcess node) {
		return node.log()
			.lines()
			.filter((line) -> Stream.of(PARTLY_GONE, GONE, BACK).anyMatch(line::contains))
			.reduce((earlier, later) -> later)
			.map((line) -> line.contains(BACK))
			.orElse(true);
	}

	static TaskId key(long number) {
		return TaskId.of(Worker.NAME, number);
	}

	static ConditionFactory await() {
		return Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100));
	}

	static void await(BooleanSupplier condition) {
		await().until(condition::getAsBoolean);
	}

	/**
	 * Waits until this many tasks have ended, and the store has recorded the end of each.
	 */
	void awaitEnded(int tasks) {
		await().untilAsserted(() -> assertThat(this.executions.numbersEnded()).isEqualTo(tasks));
		awaitEmptyStore();
	}

	void awaitEmptyStore() {
		await(() -> this.client.isEmpty());
	}

	static void awaitTime(Instant time) {
		await(() -> Instant.now().isAfter(time));
	}

	/** The runs of each task, the first one first. */
	Map<Long, List<Execution>> runs() {
		return this.executions.all().stream().collect(Collectors.groupingBy(Execution::number));
	}

	void assertNeverEarly() {
		assertThat(this.executions.all())
			.allSatisfy((run) -> assertThat(run.startedAt()).isGreaterThanOrEqualTo(run.dueAt() - TICK_MILLIS));
	}

	/**
	 * Checks that at no time more runs were under way, each from the first of its times
	 * to the second.
	 */
	static void assertAtMostAtOnce(int limit, List<long[]> runs) {
		assertThat(runs).allSatisfy(
				(run) -> assertThat(runs.stream().filter((other) -> other[0] <= run[0] && run[0] < other[1]).count())
					.isLessThanOrEqualTo(limit));
	}

	static long millis(Duration... durations) {
		return Arrays.stream(durations).mapToLong(Duration::toMillis).sum();
	}

	static final class ShowLogs implements TestExecutionExceptionHandler {

		@Override
		public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
			FaultTestSupport test = (FaultTestSupport) context.getRequiredTestInstance();
			test.nodes.forEach((node) -> System.err.println("--- Node %s%n%s".formatted(node.id(), node.log())));
			test.executions.all().stream().limit(50).forEach(System.err::println);
			throw failure;
		}

	}

}
