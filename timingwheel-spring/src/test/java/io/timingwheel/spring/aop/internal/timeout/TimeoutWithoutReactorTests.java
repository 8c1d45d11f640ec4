package io.timingwheel.spring.aop.internal.timeout;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class TimeoutWithoutReactorTests {

	@Test
	void limitsMethodsWithoutReactorOnTheClasspath() throws Exception {
		try (URLClassLoader loader = withoutReactor()) {
			assertThatExceptionOfType(ClassNotFoundException.class)
				.isThrownBy(() -> loader.loadClass("reactor.core.publisher.Mono"));
			Callable<?> calls = (Callable<?>) loader.loadClass(Calls.class.getName())
				.getDeclaredConstructor()
				.newInstance();
			assertThat(calls.call()).isEqualTo("in time, MethodTimeoutException");
		}
	}

	private static URLClassLoader withoutReactor() throws IOException {
		List<URL> urls = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			if (!entry.contains("reactor-core")) {
				urls.add(Path.of(entry).toUri().toURL());
			}
		}
		return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
	}

	/**
	 * The calls that run in the class loader without Reactor.
	 */
	public static class Calls implements Callable<String> {

		@Override
		public String call() {
			ManualTimeSource time = new ManualTimeSource();
			TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(time).build();
			Service service = new Proxies(wheel, Runnable::run).proxy(new Service());
			String inTime = service.work(time, Duration.ofMillis(799));
			try {
				return service.work(time, Duration.ofMillis(800));
			}
			catch (RuntimeException ex) {
				return inTime + ", " + ex.getClass().getSimpleName();
			}
		}

	}

	static class Service {

		@Timeout("800ms")
		public String work(ManualTimeSource time, Duration duration) {
			time.advance(duration);
			return "in time";
		}

	}

}
