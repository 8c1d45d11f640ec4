package io.timingwheel.spring.durable.payload;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.PayloadMigration;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/** Thread-safe. */
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

	@Nullable PayloadMigration find(List<String> names) {
		Map<String, PayloadMigration> byName = this.migrations.obtain();
		return names.stream().map(byName::get).filter(Objects::nonNull).findFirst().orElse(null);
	}

	/** Warns of migrations that are never called. */
	void check(Collection<String> names) {
		this.migrations.obtain()
			.keySet()
			.stream()
			.filter((name) -> !names.contains(name))
			.forEach((name) -> logger.warn(("The PayloadMigration for \"%s\" is never called: this application has no"
					+ " durable method with this name or alias")
				.formatted(name)));
	}

}
