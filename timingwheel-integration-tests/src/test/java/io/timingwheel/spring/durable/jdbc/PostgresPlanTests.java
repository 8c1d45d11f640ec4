package io.timingwheel.spring.durable.jdbc;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.StoreTestSupport;
import io.timingwheel.spring.durable.TaskRef;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that PostgreSQL does not keep a plan for a small table when the table has become
 * large.
 */
class PostgresPlanTests extends StoreTestSupport {

	private static final int EXECUTIONS = 20;

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.POSTGRESQL, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

	@Test
	void statementsOnManyTasksArePlannedForEachExecution() {
		try (HikariDataSource pool = TestDatabase.newPool(this.nodes.url(), 1)) {
			DelayedTaskStore single = new JdbcDelayedTaskStore(pool, pool, TableName.DEFAULT);
			for (int i = 0; i < EXECUTIONS; i++) {
				single.enqueue(task(null, SOON));
				List<TaskRef> tasks = refs(claim(single, "a", 100).tasks().get(0));
				assertThat(single.begin(tasks, LEASE)).containsExactly(Reply.DONE);
				assertThat(single.renew(tasks, LEASE)).containsExactly(Reply.DONE);
				assertThat(single.acknowledge(tasks)).containsExactly(Reply.DONE);
			}
			List<Integer> generic = new JdbcTemplate(pool).queryForList(
					"select generic_plans from pg_prepared_statements where statement like '%for update of t skip locked%'",
					Integer.class);
			assertThat(generic).hasSize(3).containsOnly(0);
		}
	}

}
