package io.timingwheel;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that no other object shares the cache lines of padded fields, by the offsets that
 * this JVM has given to the fields.
 */
class PaddingTests {

	/** A cache line, and most of the neighbouring line. */
	private static final long SPACE = 120;

	@Test
	void spaceIsBeforeAndAfterTheFields() throws Exception {
		Class<?> padded = Shard.Padded.class;
		List<Long> fields = new ArrayList<>();
		List<Long> space = new ArrayList<>();
		for (Class<?> type = padded; type != Object.class; type = type.getSuperclass()) {
			for (Field field : type.getDeclaredFields()) {
				if (!Modifier.isStatic(field.getModifiers())) {
					boolean isSpace = type == padded || type == Padding.class;
					(isSpace ? space : fields).add(offset(field));
				}
			}
		}
		assertThat(fields).isNotEmpty();
		for (long offset : fields) {
			long before = space.stream().filter((each) -> each < offset).count() * Long.BYTES;
			long after = space.stream().filter((each) -> each > offset).count() * Long.BYTES;
			assertThat(before).as("bytes before offset %d", offset).isGreaterThanOrEqualTo(SPACE);
			assertThat(after).as("bytes after offset %d", offset).isGreaterThanOrEqualTo(SPACE);
		}
	}

	/**
	 * The compiler warns of a direct use of the class.
	 */
	private static long offset(Field field) throws ReflectiveOperationException {
		Class<?> type = Class.forName("sun.misc.Unsafe");
		Field instance = type.getDeclaredField("theUnsafe");
		instance.setAccessible(true);
		Method offset = type.getMethod("objectFieldOffset", Field.class);
		return (long) offset.invoke(instance.get(null), field);
	}

}
