package io.timingwheel.spring.faults;

import java.io.PrintStream;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * A node in a JVM of its own: says {@code READY} once it claims tasks, and then does what
 * it is told line by line, until its input ends. Its log goes to the standard error.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ ClaimRecorder.class, HeapBeforeStart.class, Worker.class, NodeCommands.class })
class NodeApplication {

	static final String READY = "READY";

	public static void main(String[] args) throws Exception {
		PrintStream replies = System.out;
		System.setOut(System.err);
		ConfigurableApplicationContext context = SpringApplication.run(NodeApplication.class, args);
		replies.println(READY);
		context.getBean(NodeCommands.class).serve(replies);
		System.exit(0);
	}

	@Bean
	static Executions executions(@Value("${faults.executions}") String url) {
		return new Executions(url);
	}

}
