package io.timingwheel.spring.durable.support;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class DurableHandlerRegistryTests {

	private final DurableHandlerRegistry handlers = new DurableHandlerRegistry();

	@Test
	void handlersAreFoundByNameAndAlias() throws Exception {
		DurableHandler handler = handler("first", "name", "earlier");
		this.handlers.register(handler);
		assertThat(this.handlers.find("name")).isSameAs(handler);
		assertThat(this.handlers.find("earlier")).isSameAs(handler);
		assertThat(this.handlers.find("later")).isNull();
		assertThat(this.handlers.names()).containsExactlyInAnyOrder("name", "earlier");
	}

	@Test
	void namesAreASnapshot() throws Exception {
		Set<String> before = this.handlers.names();
		this.handlers.register(handler("first", "name"));
		assertThat(before).isEmpty();
		assertThat(this.handlers.names()).containsExactly("name");
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.handlers.names().add("other"));
	}

	@Test
	void aNameOrAliasBelongsToOneMethod() throws Exception {
		this.handlers.register(handler("first", "name", "earlier"));
		for (DurableHandler second : List.of(handler("second", "name"), handler("second", "earlier"),
				handler("second", "other", "name"), handler("second", "other", "earlier"))) {
			assertThatIllegalStateException().isThrownBy(() -> this.handlers.register(second))
				.withMessageContaining("DurableHandlerRegistryTests.first()")
				.withMessageContaining("DurableHandlerRegistryTests.second()");
		}
		assertThat(this.handlers.names()).containsExactlyInAnyOrder("name", "earlier");
	}

	void first() {
	}

	void second() {
	}

	private static DurableHandler handler(String method, String name, String... aliases) throws NoSuchMethodException {
		Method declared = DurableHandlerRegistryTests.class.getDeclaredMethod(method);
		return new MethodHandler(name, List.of(aliases), declared);
	}

}
