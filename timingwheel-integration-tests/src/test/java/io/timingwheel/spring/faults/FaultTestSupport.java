package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
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
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * A server, a client, and nodes in JVMs of their own. If a test leaves nodes running that
 * other tests can use, the next test that needs them uses them, too.
 */
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

	static final String PARTLY_GONE = "A part of the store of durable tasks does not answer";

	static final String GONE = "cannot be reached";

	static final String BACK = "is back after";

	/** The tick of the wheel. */
	static final long TICK_MILLIS = 1;

	/**
	 * The limit for a wait. A test may take long on a machine that is busy with other
	 * work.
	 */
	private static final Duration PATIENCE = Duration.ofMinutes(6);

	static final Duration SOON = Duration.ofSeconds(3);

	@Parameter
	FaultServer.Type store;

	private FaultServer server;

	private final Map<String, NodeProcess> kept = new HashMap<>();

	private final List<NodeProcess> special = new ArrayList<>();

	private List<String> properties;

	private NodeClasses classes;

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
		this.executions = new Executions(Executions.server());
		// The client waits longer for a connection than the nodes.
		List<String> patient = new ArrayList<>(this.properties);
		patient.removeIf((property) -> property.startsWith("spring.datasource.hikari.connection-timeout="));
		patient.add("spring.datasource.hikari.connection-timeout=10000");
		this.client = new Client(patient);
		this.classes = NodeClasses.ofThisJvm(this.client.isRelational() ? "jdbc" : "redis", this.properties);
	}

	@AfterParameterizedClassInvocation
	void end() throws Exception {
		killNodes();
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
	void rest() {
		this.special.forEach(NodeProcess::close);
		this.special.clear();
		this.kept.values().removeIf((node) -> !node.isAlive());
		this.kept.values().forEach((node) -> node.tell("pause"));
	}

	FaultServer server() {
		return this.server;
	}

	/**
	 * Two nodes with the usual settings, which claim tasks.
	 */
	List<NodeProcess> twoNodes() {
		return claiming(List.of(idleNode("a"), idleNode("b")));
	}

	/**
	 * Two nodes that keep their leases even if the machine stalls. If a task runs twice
	 * on these nodes, this is an error.
	 */
	List<NodeProcess> twoNodesThatKeepTheirLeases() {
		return claiming(List.of(idleNode("c", LONG_LEASE), idleNode("d", LONG_LEASE)));
	}

	private static List<NodeProcess> claiming(List<NodeProcess> nodes) {
		nodes.forEach(NodeProcess::awaitReady);
		nodes.forEach((node) -> node.tell("resume"));
		return nodes;
	}

	/**
	 * A node with the usual settings that does not claim tasks.
	 */
	NodeProcess pausedNode(String id) {
		return paused(idleNode(id));
	}

	/**
	 * A node that keeps its leases even if the machine stalls. It may be paused since an
	 * earlier test. Does not wait for it.
	 */
	NodeProcess otherNode() {
		return idleNode("other", LONG_LEASE);
	}

	/**
	 * Pauses a node, and waits for the end of a claim that is in progress.
	 */
	static NodeProcess paused(NodeProcess node) {
		node.awaitReady().tell("pause");
		await(() -> node.ask("in-flight") == 0);
		return node;
	}

	/**
	 * A node that may be running since an earlier test.
	 * @param properties always the same for an id
	 */
	private NodeProcess idleNode(String id, String... properties) {
		return this.kept.compute(id, (key, node) -> (node != null && node.isAlive()) ? node
				: NodeProcess.start(this.classes, id, List.of(), with(properties)));
	}

	/**
	 * Starts a node for one test, and does not wait for it.
	 * @param jvmOptions options of the JVM, which precede those of all nodes
	 * @param properties properties, which precede those of all nodes
	 */
	NodeProcess startNode(String id, List<String> jvmOptions, String... properties) {
		return startNode(this.classes, id, jvmOptions, properties);
	}

	/**
	 * Starts a node of some build or application for one test, and does not wait for it.
	 */
	NodeProcess startNode(NodeClasses classes, String id, List<String> jvmOptions, String... properties) {
		NodeProcess node = NodeProcess.start(classes, id, jvmOptions, with(properties));
		this.special.add(node);
		return node;
	}

	/**
	 * The classes of the present build.
	 */
	NodeClasses classes() {
		return this.classes;
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

	void killNodes() {
		this.special.forEach(NodeProcess::close);
		this.kept.values().forEach(NodeProcess::close);
		this.special.clear();
		this.kept.clear();
	}

	String logs() {
		return Stream.concat(this.kept.values().stream(), this.special.stream())
			.map((node) -> "--- Node %s%n%s".formatted(node.id(), node.log()))
			.collect(Collectors.joining());
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

	/**
	 * Waits until a time by which an error would have shown.
	 */
	static void awaitTime(Instant time) {
		await(() -> Instant.now().isAfter(time));
	}

	/**
	 * The runs of each task, the first one first.
	 */
	Map<Long, List<Execution>> runs() {
		return this.executions.all().stream().collect(Collectors.groupingBy(Execution::number));
	}

	/**
	 * The runs of all tasks, each of which has run once.
	 */
	Map<Long, Execution> singleRuns() {
		return runs().values()
			.stream()
			.peek((runs) -> assertThat(runs).hasSize(1))
			.collect(Collectors.toMap((runs) -> runs.get(0).number(), (runs) -> runs.get(0)));
	}

	void assertNeverEarly() {
		assertThat(this.executions.all())
			.allSatisfy((run) -> assertThat(run.startedAt()).isGreaterThanOrEqualTo(run.dueAt() - TICK_MILLIS));
	}

	static void assertClockIsShifted(NodeProcess node, Duration offset) {
		for (String clock : List.of("clock", "instant")) {
			assertThat(node.ask(clock) - System.currentTimeMillis()).isCloseTo(offset.toMillis(), within(30_000L));
		}
	}

	static long millis(Duration... durations) {
		return Arrays.stream(durations).mapToLong(Duration::toMillis).sum();
	}

	/**
	 * After a failure, prints the logs of the nodes. The next test then starts new nodes.
	 */
	static final class ShowLogs implements TestExecutionExceptionHandler {

		@Override
		public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
			FaultTestSupport test = (FaultTestSupport) context.getRequiredTestInstance();
			System.err.println(test.logs());
			test.executions.all().stream().limit(50).forEach(System.err::println);
			test.killNodes();
			throw failure;
		}

	}

}
