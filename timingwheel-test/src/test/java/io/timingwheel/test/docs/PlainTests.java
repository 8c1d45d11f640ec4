package io.timingwheel.test.docs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.test.VirtualTime;
import io.timingwheel.test.VirtualTimeExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;

// tag::plain[]
@ExtendWith(VirtualTimeExtension.class)
class PlainTests {

	@Test
	void heartbeatsFollowOneAnother(VirtualTime time, DelayedTaskOperations tasks) {
		List<String> beats = new ArrayList<>();
		tasks.task(() -> beats.add(time.now().toString())).name("heartbeat").every(Duration.ofSeconds(10));
		time.advance(Duration.ofMinutes(1));
		assertThat(beats).hasSize(6);
	}

}
// end::plain[]
