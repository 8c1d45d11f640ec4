package io.timingwheel.benchmarks.throughput;

import java.util.Collection;
import java.util.List;

import io.timingwheel.benchmarks.ProcessCpu;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Measures the processor time of the whole JVM per operation: that of the callers and
 * that of all other threads.
 */
public class ProcessCpuProfiler implements InternalProfiler {

	/** The name of the result. */
	public static final String RESULT = "process-cpu";

	private long before;

	@Override
	public String getDescription() {
		return "Processor time of the JVM per operation";
	}

	@Override
	public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
		this.before = ProcessCpu.nanos();
	}

	@Override
	public Collection<? extends Result<?>> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
			IterationResult result) {
		double nanos = ProcessCpu.nanos() - this.before;
		return List
			.of(new ScalarResult(RESULT, nanos / result.getMetadata().getAllOps(), "ns/op", AggregationPolicy.AVG));
	}

}
