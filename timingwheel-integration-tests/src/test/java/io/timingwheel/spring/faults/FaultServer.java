package io.timingwheel.spring.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.lettuce.core.KillArgs;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.timingwheel.spring.MariaDb;
import io.timingwheel.spring.Ports;
import io.timingwheel.spring.Postgres;
import io.timingwheel.spring.durable.redis.RedisCluster;
import io.timingwheel.spring.durable.redis.RedisProcess;
import org.h2.tools.Server;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * The running server that keeps the tasks, and the faults that a test can cause.
 *
 * @param process the server itself, for the faults of one kind of server
 * @param properties by which an application finds the server
 * @param restart starts it again with its data
 * @param stop shuts it down
 * @param connectionDrop closes all connections except that of a client, while the server
 * keeps running
 */
record FaultServer(Object process, List<String> properties, Step restart, Step stop,
		Consumer<Client> connectionDrop) implements AutoCloseable {

	@Override
	public void close() throws Exception {
		if (this.process instanceof RedisCluster cluster) {
			cluster.close();
		}
		else {
			this.stop.run();
		}
	}

	/** PostgreSQL with the durability settings of production. */
	private static FaultServer postgres() throws Exception {
		Postgres server = new Postgres();
		return new FaultServer(server, jdbc(server.url()), server::restart, server::close,
				(client) -> client.jdbc()
					.queryForList("select pg_terminate_backend(pid) from pg_stat_activity"
							+ " where backend_type = 'client backend' and pid <> pg_backend_pid()"));
	}

	private static FaultServer mariaDb() throws Exception {
		MariaDb server = MariaDb.create();
		return new FaultServer(server, jdbc(server.createDatabase("timingwheel")), server::start, server::stop,
				(client) -> client.jdbc()
					.queryForList("select id from information_schema.processlist"
							+ " where id <> connection_id() and db = 'timingwheel'", Long.class)
					.forEach((id) -> {
						try {
							client.jdbc().execute("kill " + id);
						}
						catch (DataAccessException ex) {
							// The connection has ended by itself.
						}
					}));
	}

	/** H2 has no command to close connections, so the server ends. */
	private static FaultServer h2() throws Exception {
		Path file = Files.createTempDirectory("timingwheel-h2").resolve("tasks");
		H2Process server = new H2Process();
		return new FaultServer(server, jdbc("jdbc:h2:tcp://localhost:%d/%s;WRITE_DELAY=0".formatted(server.port, file)),
				() -> server.start(server.port), server::stop, (client) -> {
					try {
						server.stop();
						server.start(server.port);
					}
					catch (Exception ex) {
						throw new IllegalStateException(ex);
					}
				});
	}

	private static FaultServer redis() {
		RedisProcess server = RedisProcess.with();
		return new FaultServer(server, redis("spring.data.redis.port=" + server.port()), server::start, server::close,
				(client) -> {
					try (RedisConnection connection = client.redis().getConnection()) {
						RedisAsyncCommands<?, ?> commands = (RedisAsyncCommands<?, ?>) connection.getNativeConnection();
						commands.clientKill(KillArgs.Builder.typeNormal().skipme()).toCompletableFuture().join();
					}
				});
	}

	/** Three primaries, which write each change to their append-only files. */
	private static FaultServer redisCluster() {
		RedisCluster cluster = RedisCluster.start();
		List<Integer> servers = IntStream.range(0, cluster.size()).boxed().toList();
		return new FaultServer(cluster,
				redis("spring.data.redis.cluster.nodes=" + String.join(",", cluster.addresses())),
				() -> servers.forEach((i) -> cluster.process(i).start()),
				() -> servers.forEach((i) -> cluster.process(i).close()), (client) -> servers
					.forEach((i) -> cluster.server(i).clientKill(KillArgs.Builder.typeNormal().skipme())));
	}

	private static List<String> jdbc(String url) {
		return List.of("timingwheel.store.type=jdbc", "spring.datasource.url=" + url);
	}

	private static List<String> redis(String address) {
		return List.of("timingwheel.store.type=redis", address, "spring.data.redis.timeout=5s",
				"spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
	}

	enum Type {

		POSTGRESQL(FaultServer::postgres), MARIADB(FaultServer::mariaDb), H2(FaultServer::h2),
		REDIS(FaultServer::redis), REDIS_CLUSTER(FaultServer::redisCluster);

		private final Callable<FaultServer> start;

		Type(Callable<FaultServer> start) {
			this.start = start;
		}

		FaultServer start() throws Exception {
			return this.start.call();
		}

	}

	@FunctionalInterface
	interface Step {

		void run() throws Exception;

	}

	private static final class H2Process {

		private static final long GRACE_SECONDS = 30;

		private final int port;

		private Process process;

		H2Process() throws Exception {
			this.port = Ports.start((port) -> {
				start(port);
				return port;
			});
		}

		private void start(int port) throws IOException {
			this.process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
					"-Xmx256m", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
					Server.class.getName(), "-tcp", "-tcpPort", String.valueOf(port), "-ifNotExists")
				.redirectErrorStream(true)
				.start();
			Runtime.getRuntime().addShutdownHook(new Thread(this.process::destroyForcibly));
			BufferedReader output = this.process.inputReader();
			String line = output.readLine();
			if (line == null || !line.startsWith("TCP server running")) {
				throw new IllegalStateException("H2 does not start: " + line);
			}
		}

		private void stop() throws InterruptedException {
			this.process.destroy();
			if (!this.process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
				this.process.destroyForcibly().waitFor();
			}
		}

	}

}
