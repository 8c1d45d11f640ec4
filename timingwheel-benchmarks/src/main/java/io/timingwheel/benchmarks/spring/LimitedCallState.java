package io.timingwheel.benchmarks.spring;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.resilience4j.timelimiter.TimeLimiter;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.springframework.context.ConfigurableApplicationContext;

/** The objects that the ways to limit a call need. */
@NullUnmarked
@State(Scope.Benchmark)
public class LimitedCallState {

	@Param
	public LimitWay way;

	LimitedCalls calls;

	final LimitedCalls bareProxy = CallApplication.bareProxy();

	private final TimeLimiter timeLimiter = TimeLimiter.of(Duration.ofSeconds(1));

	private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);

	private final ExecutorService otherThread = Executors.newSingleThreadExecutor();

	private ConfigurableApplicationContext context;

	@Setup(Level.Trial)
	public void start() {
		this.scheduler.setRemoveOnCancelPolicy(true);
		this.context = CallApplication.start();
		this.calls = this.context.getBean(LimitedCalls.class);
	}

	@TearDown(Level.Trial)
	public void stop() {
		this.context.close();
		this.scheduler.shutdownNow();
		this.otherThread.shutdownNow();
	}

	/** Measures the cost of the limiter alone, because the stage is complete already. */
	int callWithTimeLimiter() throws Exception {
		return this.timeLimiter
			.executeCompletionStage(this.scheduler, () -> CompletableFuture.completedFuture(this.bareProxy.unlimited()))
			.toCompletableFuture()
			.get();
	}

	int callOnOtherThread() throws Exception {
		return this.otherThread.submit(this.bareProxy::unlimited).get(1, TimeUnit.SECONDS);
	}

}
