package io.timingwheel.spring.durable.support;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.PayloadMigration;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * The migrations of the application, by the names of their tasks. Thread-safe.
 */
final class PayloadMigrations {

	private static final Log logger = LogFactory.getLog(PayloadMigrations.class);

	/** Asked for the beans late, since a migration may depend on other beans. */
	private final SingletonSupplier<Map<String, PayloadMigration>> migrations;

	PayloadMigrations(Supplier<? extends Collection<PayloadMigration>> migrations) {
		this.migrations = SingletonSupplier.of(() -> byName(migrations.get()));
	}

	private static Map<String, PayloadMigration> byName(Collection<PayloadMigration> migrations) {
		Map<String, PayloadMigration> byName = new HashMap<>();
		for (PayloadMigration migration : migrations) {
			PayloadMigration other = byName.put(migration.taskName(), migration);
			if (other != null) {
				throw new IllegalStateException(("The durable task \"%s\" has two beans of the type PayloadMigration,"
						+ " %s and %s; make them one, which gets the number of stored arguments")
					.formatted(migration.taskName(), other.getClass().getName(), migration.getClass().getName()));
			}
		}
		return byName;
	}

	/**
	 * Finds the migration of a handler, by its name or one of its aliases.
	 */
	@Nullable PayloadMigration find(DurableHandler handler) {
		Map<String, PayloadMigration> byName = this.migrations.obtain();
		PayloadMigration migration = byName.get(handler.name());
		for (int i = 0; migration == null && i < handler.aliases().size(); i++) {
			migration = byName.get(handler.aliases().get(i));
		}
		return migration;
	}

	/**
	 * Warns of migrations that are never called.
	 * @param names the names of all handlers of this node
	 * @throws IllegalStateException if two migrations have the same name
	 */
	void check(Set<String> names) {
		this.migrations.obtain()
			.keySet()
			.stream()
			.filter((name) -> !names.contains(name))
			.forEach((name) -> logger.warn(("The PayloadMigration for \"%s\" is never called: this application has no"
					+ " durable method with this name or alias")
				.formatted(name)));
	}

}
