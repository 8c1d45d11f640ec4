package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.RepeatedTest;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Durable tasks in the slice for JDBC, whose tests have a transaction that is rolled
 * back.
 */
@JdbcTest(properties = "timingwheel.store.type=jdbc")
@AutoConfigureVirtualTime
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
