package io.timingwheel.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

/**
 * The application of the tests that bring none of their own. Needs
 * {@code timingwheel.store.type}.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({ Runs.class, Jobs.InMemory.class, Jobs.Stored.class, DurableTests.Bookings.class,
		BothKindsTests.Limited.class })
class TestApplication {

	/** A test of this application with a store. All these tests have one context. */
	@Target(ElementType.TYPE)
	@Retention(RetentionPolicy.RUNTIME)
	@SpringBootTest(properties = { "timingwheel.store.type=jdbc", "timingwheel.store.max-attempts=3",
			"timingwheel.store.lease=20s", "timingwheel.store.dead.retention=1h",
			"timingwheel.tasks.stopped.paused=true", "timingwheel.tasks.stored-stopped.paused=true",
			"timingwheel.task-scheduler.enabled=true" })
	@AutoConfigureVirtualTime
	@interface WithStore {

	}

}
