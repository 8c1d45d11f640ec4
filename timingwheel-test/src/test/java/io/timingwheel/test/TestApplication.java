package io.timingwheel.test;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/**
 * The application of the tests that bring none of their own. Needs
 * {@code timingwheel.store.type}.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({ Runs.class, Jobs.InMemory.class, Jobs.Stored.class })
class TestApplication {

}
