package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.RepeatedTest;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a slice for databases has: a few auto-configurations, and a transaction for each
 * test, which is rolled back.
 */
@SpringBootTest(classes = JdbcSliceTests.Config.class,
		properties = { "timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:slice" })
@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
		JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class, TransactionAutoConfiguration.class })
@AutoConfigureVirtualTime
@Transactional
class JdbcSliceTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private JdbcClient jdbc;

	@Autowired
	private Effects effects;

	@RepeatedTest(2)
	void aBodySeesWhatTheTestHasWrittenAndTheRollbackTakesAllAway() {
		assertThat(count()).isZero();
		this.jdbc.sql("insert into effect values ('test')").update();
		this.effects.add("body");
		this.time.advance(Duration.ofHours(1));
		assertThat(count()).isEqualTo(2);
		assertThat(this.time).hasNothingPending();
		this.effects.add("left over");
		assertThat(this.time).hasPending("effect", "left over").isDurable();
	}

	private int count() {
		return this.jdbc.sql("select count(*) from effect").query(Integer.class).single();
	}

	@Configuration(proxyBeanMethods = false)
	static class Config {

		@Bean
		Effects effects(JdbcClient jdbc) {
			jdbc.sql("create table effect (id varchar)").update();
			return new Effects(jdbc);
		}

	}

	static class Effects {

		private final JdbcClient jdbc;

		Effects(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@Delayed(delay = "1h", name = "effect", key = "#id", durable = true)
		@Transactional
		public void add(String id) {
			this.jdbc.sql("insert into effect values (?)").param(id).update();
		}

	}

}
