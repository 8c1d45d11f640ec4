package io.timingwheel.benchmarks.peer;

import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLoggerFactory;
import org.slf4j.spi.SLF4JServiceProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class PeerTests {

	private static final long FAR = TimeUnit.HOURS.toNanos(1);

	@ParameterizedTest
	@EnumSource
	void firesTimersThatAreNeitherCancelledNorMoved(Peer peer) throws InterruptedException {
		assumeTrue(peer.isAvailable() && peer.isThreadSafe());
		long delay = TimeUnit.MILLISECONDS.toNanos(500);
		// A thread that stalls may cancel too late.
		while (!cancelsAndResetsInTime(peer, delay)) {
			delay *= 4;
		}
	}

	private static boolean cancelsAndResetsInTime(Peer peer, long delay) throws InterruptedException {
		AtomicInteger wrong = new AtomicInteger();
		boolean inTime;
		CountDownLatch fired = new CountDownLatch(1);
		try (TimerPeer timers = peer.start()) {
			PeerTask mistake = PeerTask.of(wrong::incrementAndGet);
			long begin = System.nanoTime();
			timers.cancel(timers.schedule(mistake, delay));
			timers.reset(timers.schedule(mistake, delay), mistake, FAR);
			inTime = System.nanoTime() - begin < delay;
			timers.schedule(PeerTask.of(fired::countDown), delay + TimeUnit.MILLISECONDS.toNanos(300));
			assertThat(fired.await(1, TimeUnit.MINUTES)).isTrue();
			timers.settle();
		}
		assertThat(!inTime || wrong.get() == 0).as("only the right timer has fired").isTrue();
		return inTime;
	}

	@ParameterizedTest
	@EnumSource
	void takesAnyNumberOfTimers(Peer peer) throws InterruptedException {
		assumeTrue(peer.isAvailable());
		try (TimerPeer timers = peer.start()) {
			for (int i = 0; i < 10_000; i++) {
				Object timer = timers.schedule(PeerTask.NO_OP, FAR + i);
				timers.cancel(timers.reset(timer, PeerTask.NO_OP, FAR + 2 * i));
			}
			timers.settle();
		}
	}

	@Test
	void aDelayOfKafkaIsRoundedUpSoThatRoundingMakesNoTimerEarly() {
		assertThat(KafkaPeer.wholeMillis(1)).isEqualTo(1);
		assertThat(KafkaPeer.wholeMillis(1_000_000)).isEqualTo(1);
		assertThat(KafkaPeer.wholeMillis(1_000_001)).isEqualTo(2);
		assertThat(KafkaPeer.wholeMillis(-1)).isZero();
	}

	@Test
	void noContestantWritesALog() {
		assertThat(LoggerFactory.getILoggerFactory()).isInstanceOf(NOPLoggerFactory.class);
		assertThat(ServiceLoader.load(SLF4JServiceProvider.class)).hasSize(1);
	}

}
