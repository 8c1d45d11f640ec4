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
 * A node in a JVM of its own. It prints {@code READY} once it claims tasks. Then it reads
 * commands, one per line, until its input ends. It logs to the standard error.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ ClaimRecorder.class, Worker.class, TransactionalWorker.class, NodeCommands.class })
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
