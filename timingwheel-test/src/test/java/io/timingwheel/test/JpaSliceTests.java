package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Durable tasks in the slice for JPA, whose tests have a transaction that is rolled back.
 */
@DataJpaTest(properties = { "timingwheel.store.type=jdbc", "spring.autoconfigure.exclude=" })
@AutoConfigureVirtualTime
@Tag("faults")
class JpaSliceTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private EntityManager entities;

	@Autowired
	private Documents documents;

	@RepeatedTest(2)
	void aBodyChangesWhatTheTestHasStoredAndTheRollbackTakesAllAway() {
		assertThat(this.entities.find(Document.class, "report")).isNull();
		this.entities.persist(new Document("report"));
		this.documents.archive("report");
		assertThat(this.time).hasPending("archive", "report");
		this.time.advance(Duration.ofHours(1));
		this.entities.flush();
		this.entities.clear();
		assertThat(this.entities.find(Document.class, "report").archived).isTrue();
		this.documents.archive("left over");
	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigurationPackage
	static class Config {

		@Bean
		Documents documents(EntityManager entities) {
			return new Documents(entities);
		}

	}

	static class Documents {

		private final EntityManager entities;

		Documents(EntityManager entities) {
			this.entities = entities;
		}

		@Delayed(delay = "1h", name = "archive", key = "#id", durable = true)
		@Transactional
		public void archive(String id) {
			this.entities.find(Document.class, id).archived = true;
		}

	}

	@Entity
	static class Document {

		@Id
		private String id = "";

		private boolean archived;

		Document() {
		}

		Document(String id) {
			this.id = id;
		}

	}

}
