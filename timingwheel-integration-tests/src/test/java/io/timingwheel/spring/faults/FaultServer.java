package io.timingwheel.spring.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
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
 * @param stop shuts it down, or kills it if no acknowledged change may be lost then
 * @param connectionDrop closes all connections except that of a client, while the server
 * keeps running
 */
record FaultServer(Object process, List<String> properties, Step restart, Step stop,
		Drop connectionDrop) implements AutoCloseable {

	@Override
	public void close() throws Exception {
		if (this.process instanceof AutoCloseable server) {
			server.close();
		}
		else {
			this.stop.run();
		}
	}

	/** PostgreSQL with the durability settings of production. */
	private static FaultServer postgres() throws Exception {
		Postgres server = new Postgres();
		return new FaultServer(server, jdbc(server.url()), server::restart, server::kill,
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
		AtomicReference<Server> server = new AtomicReference<>();
		int port = Ports.start((free) -> {
			server.set(h2(free));
			return free;
		});
		Step restart = () -> server.set(h2(port));
		Step stop = () -> server.get().stop();
		return new FaultServer(server, jdbc("jdbc:h2:tcp://localhost:%d/%s;WRITE_DELAY=0".formatted(port, file)),
				restart, stop, (client) -> {
					stop.run();
					restart.run();
				});
	}

	private static Server h2(int port) throws SQLException {
		return Server.createTcpServer("-tcpPort", String.valueOf(port), "-tcpDaemon", "-ifNotExists").start();
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
		return List.of("timingwheel.store.type=jdbc", "spring.datasource.url=" + url,
				"spring.autoconfigure.exclude=org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration");
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

	interface Step {

		void run() throws Exception;

	}

	interface Drop {

		void allBut(Client client) throws Exception;

	}

}
