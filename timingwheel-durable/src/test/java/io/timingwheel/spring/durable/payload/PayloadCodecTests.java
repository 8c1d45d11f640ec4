package io.timingwheel.spring.durable.payload;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Currency;
import java.util.Date;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonTypeName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Checks that arguments come back unchanged, or are refused before anything is stored.
 */
class PayloadCodecTests {

	private static final long MAX_BYTES = 1024;

	private final HandlerCodec codec = new HandlerCodec(JsonMapper.builder().build(), MAX_BYTES, List::of);

	@Test
	void theFormatIsStable() {
		assertThat(this.codec.encode(handler("order"), new Object[] { new Order(7, List.of("a", "b"), Unit.PIECE) }))
			.isEqualTo("{\"v\":1,\"handler\":\"handler-of-order\","
					+ "\"args\":[{\"id\":7,\"lines\":[\"a\",\"b\"],\"unit\":\"PIECE\"}]}");
		assertThat(this.codec.encode(handler("nothing"), new Object[0]))
			.isEqualTo("{\"v\":1,\"handler\":\"handler-of-nothing\",\"args\":[]}");
	}

	static List<Arguments> values() {
		ZonedDateTime zoned = ZonedDateTime.parse("2026-03-29T01:30:00.123456789+01:00[Europe/Paris]");
		return List.of(arguments("primitives", new Object[] { 1, 2L, true, 'c', 1.5d, 2.5f, (short) 3, (byte) 4 }),
				arguments("primitives",
						new Object[] { Integer.MIN_VALUE, Long.MAX_VALUE, false, '"', Double.NaN,
								Float.NEGATIVE_INFINITY, Short.MAX_VALUE, Byte.MIN_VALUE }),
				arguments("boxed", new Object[] { 1, 2L, null }),
				arguments("text", new Object[] { "quote \" newline \n nul \0 \uD83D\uDE00" }),
				arguments("text", new Object[] { "half a character: \uD83D" }),
				arguments("text", new Object[] { null }),
				arguments("exact",
						new Object[] { new BigDecimal("1.00"), new BigInteger("123456789012345678901234567890") }),
				arguments("exact", new Object[] { new BigDecimal("1E+30"), BigInteger.ZERO }),
				arguments("bytes", new Object[] { new byte[] { 0, -1, 127 } }),
				arguments("ids",
						new Object[] { new UUID(1, 2), Locale.CANADA_FRENCH, Currency.getInstance("EUR"),
								TimeUnit.DAYS }),
				arguments("times",
						new Object[] { Instant.parse("2026-01-01T00:00:00.123456789Z"), LocalDate.of(2026, 2, 28),
								Duration.ofNanos(1), zoned,
								OffsetDateTime.of(2026, 1, 1, 0, 0, 0, 1, ZoneOffset.ofHours(2)) }),
				arguments("orders", new Object[] { List.of(new Order(1, List.of(), Unit.BOX)) }),
				arguments("order", new Object[] { new Order(1, null, null) }),
				arguments("optional",
						new Object[] { Optional.of(new Order(1, List.of(), Unit.BOX)), OptionalInt.of(3) }),
				arguments("optional", new Object[] { Optional.empty(), OptionalInt.empty() }),
				arguments("sets", new Object[] { Set.of("a", "b", "c", "d", "e"), Set.of(1L, 2L, 3L) }),
				arguments("maps",
						new Object[] { Map.of("a", List.of(1), "b", List.of(), "c", List.of(2, 3)),
								new EnumMap<>(Map.of(Unit.BOX, Instant.EPOCH)) }),
				arguments("maps", new Object[] { new TreeMap<>(Map.of("z", List.of(1), "a", List.of())), null }),
				arguments("arrays",
						new Object[] { new Order[] { new Order(1, List.of(), null) }, new long[] { 1, 2 },
								new int[][] { { 1 }, {} } }),
				arguments("animals",
						new Object[] { List.of(new Dog("rex"), new Cat(9)), new Cat(3), Map.of("a", new Dog("b")) }),
				arguments("generic", new Object[] { new Page<>(List.of(new Order(1, List.of(), null)), 1) }),
				arguments("chars", new Object[] { new char[] { 'a', 'b' }, new double[] { Double.NaN, -0.0 } }),
				arguments("dates", new Object[] { new Date(5), new java.sql.Date(6) }),
				arguments("empty",
						new Object[] { "", new byte[0], new char[0], Locale.ROOT, URI.create(""), new String[0] }),
				arguments("numbers", new Object[] { new BigDecimal("1.50"), 7 }),
				arguments("sets", new Object[] { new LinkedHashSet<>(List.of("z", "a", "q")), null }),
				arguments("hashes",
						new Object[] { new HashSet<>(List.of("z", "a", "q")), new HashMap<>(Map.of(1, 2)) }),
				// Their order changes with their capacity.
				arguments("hashes",
						new Object[] { with(new HashSet<>(1024), "a", "q", "P"), with(new HashMap<>(1024), 1, 16) }),
				arguments("tree", new Object[] {
						JsonNodeFactory.instance.objectNode().put("a", 1).put("@class", "java.lang.X") }));
	}

	private static Set<String> with(Set<String> set, String... elements) {
		set.addAll(List.of(elements));
		return set;
	}

	private static Map<Integer, Integer> with(Map<Integer, Integer> map, Integer... keys) {
		for (Integer key : keys) {
			map.put(key, key + 1);
		}
		return map;
	}

	@ParameterizedTest(name = "{index} {0}")
	@MethodSource("values")
	void argumentsComeBackUnchanged(String method, Object[] arguments) throws Exception {
		Handler handler = handler(method);
		this.codec.payloads(handler);
		Object[] decoded = this.codec.decode(handler, this.codec.encode(handler, arguments));
		assertThat(decoded).isEqualTo(arguments);
		for (int i = 0; i < decoded.length; i++) {
			if (arguments[i] != null && !(arguments[i] instanceof Iterable) && !(arguments[i] instanceof Map)) {
				assertThat(decoded[i]).hasSameClassAs(arguments[i]);
			}
		}
	}

	@Test
	void beansComeBackUnchanged() throws Exception {
		Handler handler = handler("bean");
		Bean bean = bean("name", new Order(1, List.of("x"), Unit.BOX));
		this.codec.payloads(handler);
		assertThat(this.codec.decode(handler, this.codec.encode(handler, new Object[] { bean })))
			.usingRecursiveFieldByFieldElementComparator()
			.containsExactly(bean);
	}

	@Test
	void elementsHaveTheirDeclaredTypes() throws Exception {
		Handler handler = handler("orders");
		Object[] decoded = this.codec.decode(handler,
				this.codec.encode(handler, new Object[] { List.of(new Order(1, List.of(), Unit.BOX)) }));
		assertThat((List<?>) decoded[0]).hasOnlyElementsOfType(Order.class);
	}

	@Test
	void settingsOfTheApplicationForTimesAndTypesAreIgnored() throws Exception {
		HandlerCodec codec = new HandlerCodec(JsonMapper.builder()
			.enable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
			.disable(DateTimeFeature.WRITE_DATE_TIMESTAMPS_AS_NANOSECONDS)
			.enable(SerializationFeature.WRAP_ROOT_VALUE, SerializationFeature.INDENT_OUTPUT)
			.activateDefaultTyping(tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator.builder()
				.allowIfBaseType(Object.class)
				.build(), tools.jackson.databind.DefaultTyping.NON_FINAL_AND_ENUMS)
			.build(), MAX_BYTES, List::of);
		Handler handler = handler("timedOrder");
		Instant time = Instant.parse("2026-01-01T00:00:00.123456789Z");
		String payload = codec.encode(handler, new Object[] { time, bean("n", new Order(1, List.of(), null)) });
		assertThat(payload).isEqualTo("{\"v\":1,\"handler\":\"handler-of-timedOrder\",\"args\":["
				+ "\"2026-01-01T00:00:00.123456789Z\",{\"name\":\"n\",\"order\":{\"id\":1,\"lines\":[],\"unit\":null}}]}");
		assertThat(codec.decode(handler, payload)[0]).isEqualTo(time);
	}

	@Test
	void aValueOfAnotherTypeIsStoredIfItCanBeReadAsTheDeclaredType() throws Exception {
		Handler handler = handler("boxed");
		assertThat(this.codec.decode(handler, this.codec.encode(handler, new Object[] { (short) 1, 2, "x" })))
			.containsExactly(1, 2L, "x");
	}

	@Test
	void aValueThatChangesWhenItIsReadIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode(handler("boxed"), new Object[] { "1", 2L, "x" }))
			.withMessageContaining("Argument 1 (number) of the durable task \"handler-of-boxed\" changes");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode(handler("boxed"), new Object[] { 1, List.of(), "x" }))
			.withMessageContaining(
					"cannot be read back: Argument 2 (id) cannot be read: the JSON is no java.lang.Long");
	}

	@Test
	void aValueThatLosesPropertiesIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode(handler("bean"), new Object[] { new ExtendedBean() }))
			.withMessageContaining("Argument 1 (bean)")
			.withMessageContaining(
					"changes when it is written to JSON and read back; give each of its properties a getter");
		ReadOnly readOnly = new ReadOnly();
		readOnly.hidden = 5;
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode(handler("readOnly"), new Object[] { readOnly }))
			.withMessageContaining("Argument 1 (readOnly)")
			.withMessageContaining("cannot be stored");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode(handler("opaque"), new Object[] { new Opaque() }))
			.withMessageContaining("Argument 1 (opaque)")
			.withMessageContaining("cannot be stored");
	}

	static List<Arguments> valuesThatJsonLoses() {
		Unstored unstored = new Unstored();
		unstored.setName("n");
		unstored.hidden = 5;
		return List.of(arguments("sets", new Object[] { new TreeSet<>(String.CASE_INSENSITIVE_ORDER), null }),
				arguments("sorted", new Object[] { new TreeSet<>(List.of("a")).descendingSet() }),
				arguments("hidden", new Object[] { new Hidden("a", "b") }),
				arguments("unstored", new Object[] { unstored }), arguments("bean", new Object[] { new Bean() {
				} }), arguments("nested", new Object[] { Optional.empty(), null }),
				arguments("nested", new Object[] { null, new Path[] { Path.of("relative") } }));
	}

	@ParameterizedTest(name = "{index} {0}")
	@MethodSource
	void valuesThatJsonLoses(String method, Object[] arguments) {
		Handler handler = handler(method);
		this.codec.payloads(handler);
		assertThatIllegalArgumentException().isThrownBy(() -> this.codec.encode(handler, arguments))
			.withMessageContaining("changes when it is written to JSON and read back");
	}

	@Test
	void whatAClassDoesNotStoreMayDiffer() throws Exception {
		Handler handler = handler("cached");
		Cached cached = new Cached();
		cached.setName("n");
		cached.cache = 1;
		cached.ignored = "i";
		cached.hash = 2;
		Object[] decoded = this.codec.decode(handler, this.codec.encode(handler, new Object[] { cached }));
		assertThat(decoded[0]).isEqualTo(cached);
		Handler other = handler("ignoring");
		Ignoring ignoring = new Ignoring();
		ignoring.name = "n";
		ignoring.field = ignoring;
		ignoring.getter = "g";
		decoded = this.codec.decode(other, this.codec.encode(other, new Object[] { ignoring }));
		assertThat(decoded[0]).usingRecursiveComparison().ignoringFields("field", "getter").isEqualTo(ignoring);
	}

	@Test
	void anArgumentThatIsReadAsAnotherTypeKeepsItsValueOrFails() {
		assertThatExceptionOfType(UndecodablePayloadException.class).isThrownBy(() -> this.codec
			.decode(handler("boxed"), "{\"v\":1,\"handler\":\"handler-of-boxed\",\"args\":[1.9,2,\"x\"]}"));
		assertThatExceptionOfType(UndecodablePayloadException.class).isThrownBy(() -> this.codec.decode(handler("ids"),
				"{\"v\":1,\"handler\":\"handler-of-ids\",\"args\":[\"\",null,null,null]}"));
		assertThatExceptionOfType(UndecodablePayloadException.class).isThrownBy(() -> this.codec.decode(handler("ids"),
				"{\"v\":1,\"handler\":\"handler-of-ids\",\"args\":[null,null,null,1]}"));
	}

	@Test
	void unsupportedTypesThatOnlyTheCallShowsAreRefused() {
		BeanWithCustomer bean = new BeanWithCustomer();
		bean.customer = new PayloadTypeTests.Customer$Proxy();
		assertThatExceptionOfType(UnsupportedArgumentException.class)
			.isThrownBy(() -> this.codec.encode(handler("bean"), new Object[] { bean }))
			.withMessageContaining("Argument 1 (bean) of the durable task \"handler-of-bean\" cannot be stored")
			.withMessageContaining("is a JPA entity; pass its id");
		Runnable code = () -> {
		};
		assertThatExceptionOfType(UnsupportedArgumentException.class)
			.isThrownBy(() -> this.codec.encode("far", new Object[] { 1, List.of(code) }))
			.withMessageContaining("Argument 2 of the durable task \"far\" cannot be stored")
			.withMessageContaining("is code; pass the data");
	}

	@Test
	void cyclesAreRefused() {
		Node node = new Node();
		node.setNext(node);
		assertThatIllegalArgumentException().isThrownBy(() -> this.codec.encode(handler("node"), new Object[] { node }))
			.withMessageContaining("Argument 1 (node)")
			.withMessageContaining("self-reference");
		Node other = new Node();
		other.setNext(node);
		node.setNext(other);
		assertThatIllegalArgumentException().isThrownBy(() -> this.codec.encode(handler("node"), new Object[] { node }))
			.withMessageContaining("Argument 1 (node)")
			.withMessageContaining("nesting depth");
	}

	@Test
	void nullIsRefusedForAPrimitive() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode(handler("number"), new Object[] { null }))
			.withMessageContaining("Argument 1 (number) cannot be read: the JSON is no int");
	}

	@Test
	void theNumberOfArgumentsMustFit() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.codec.encode(handler("number"), new Object[0]))
			.withMessage("The durable task \"handler-of-number\" takes 1 arguments, not 0");
	}

	@Test
	void theLimitIsInBytes() throws Exception {
		Handler handler = handler("text");
		int envelope = this.codec.encode(handler, new Object[] { "" }).length();
		String fits = "€".repeat((int) (MAX_BYTES - envelope) / 3) + "x".repeat((int) (MAX_BYTES - envelope) % 3);
		assertThat(this.codec.decode(handler, this.codec.encode(handler, new Object[] { fits }))).containsExactly(fits);
		assertThatIllegalArgumentException().isThrownBy(() -> this.codec.encode(handler, new Object[] { fits + "x" }))
			.withMessage("The arguments of the durable task \"handler-of-text\" take 1025 bytes, and"
					+ " timingwheel.store.max-payload-size is 1024 bytes; pass less, such as an id, or raise the limit");
	}

	@Test
	void argumentsAreEncodedByTheirOwnTypesWithoutTheHandler() throws Exception {
		Object[] arguments = { List.of(new Order(1, List.of("a"), Unit.BOX)) };
		String payload = this.codec.encode("handler-of-orders", arguments);
		assertThat(payload).isEqualTo(this.codec.encode(handler("orders"), arguments));
		assertThat(this.codec.decode(handler("orders"), payload)).isEqualTo(arguments);
		assertThatIllegalArgumentException().isThrownBy(() -> this.codec.encode("far", new Object[] { new Thread() }))
			.withMessageStartingWith(
					"Argument 1 of the durable task \"far\" cannot be stored: java.lang.Thread belongs");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode("far", new Object[] { "x".repeat((int) MAX_BYTES) }))
			.withMessageContaining("timingwheel.store.max-payload-size");
	}

	@Test
	void aPayloadUnderAnAliasIsDecoded() throws Exception {
		assertThat(this.codec.decode(handler("number"), this.codec.encode("earlier-number", new Object[] { 5 })))
			.containsExactly(5);
	}

	private static Handler handler(String method) {
		return Handler.of(Signatures.class, method);
	}

	private static Bean bean(String name, Order order) {
		Bean bean = new Bean();
		bean.setName(name);
		bean.setOrder(order);
		return bean;
	}

	@SuppressWarnings("unused")
	static class Signatures {

		void nothing() {
		}

		void number(int number) {
		}

		void primitives(int a, long b, boolean c, char d, double e, float f, short g, byte h) {
		}

		void boxed(Integer number, Long id, String text) {
		}

		void text(String text) {
		}

		void exact(BigDecimal decimal, BigInteger integer) {
		}

		void bytes(byte[] bytes) {
		}

		void ids(UUID id, Locale locale, Currency currency, TimeUnit unit) {
		}

		void times(Instant instant, LocalDate date, Duration duration, ZonedDateTime zoned, OffsetDateTime offset) {
		}

		void timedOrder(Instant instant, Bean bean) {
		}

		void order(Order order) {
		}

		void orders(List<Order> orders) {
		}

		void optional(Optional<Order> order, OptionalInt number) {
		}

		void sets(Set<String> names, Set<Long> ids) {
		}

		void maps(Map<String, List<Integer>> lists, EnumMap<Unit, Instant> times) {
		}

		void arrays(Order[] orders, long[] ids, int[][] matrix) {
		}

		void animals(List<Animal> animals, Animal animal, Map<String, ? extends Animal> byName) {
		}

		void bean(Bean bean) {
		}

		void generic(Page<Order> page) {
		}

		void tree(JsonNode tree) {
		}

		void readOnly(ReadOnly readOnly) {
		}

		void opaque(Opaque opaque) {
		}

		void names(List<String> names) {
		}

		void empty(String text, byte[] bytes, char[] chars, Locale locale, URI uri, String[] array) {
		}

		void chars(char[] chars, double[] numbers) {
		}

		void dates(Date date, java.sql.Date other) {
		}

		void numbers(Number number, Number other) {
		}

		void hashes(HashSet<String> set, HashMap<Integer, Integer> map) {
		}

		void sorted(SortedSet<String> set) {
		}

		void hidden(Hidden hidden) {
		}

		void unstored(Unstored unstored) {
		}

		void nested(Optional<Optional<String>> text, Path[] paths) {
		}

		void cached(Cached cached) {
		}

		void ignoring(Ignoring ignoring) {
		}

		void node(Node node) {
		}

	}

	enum Unit {

		PIECE, BOX {
			@Override
			public String toString() {
				return "a box";
			}
		}

	}

	record Order(long id, List<String> lines, Unit unit) {

		public int getSize() {
			return this.lines.size();
		}

		public boolean isEmpty() {
			return false;
		}

	}

	record Page<T>(List<T> content, int number) {
	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
	@JsonSubTypes({ @JsonSubTypes.Type(Dog.class), @JsonSubTypes.Type(value = Cat.class, name = "cat") })
	interface Animal {

	}

	@JsonTypeName("dog")
	record Dog(String name) implements Animal {
	}

	record Cat(int lives) implements Animal {
	}

	static class Bean {

		private String name;

		private Order order;

		public String getName() {
			return this.name;
		}

		public void setName(String name) {
			this.name = name;
		}

		public Order getOrder() {
			return this.order;
		}

		public void setOrder(Order order) {
			this.order = order;
		}

		@JsonIgnore
		public Thread getThread() {
			return Thread.currentThread();
		}

	}

	static class ExtendedBean extends Bean {

		public String getMore() {
			return "more";
		}

	}

	static class BeanWithCustomer extends Bean {

		private Object customer;

		public Object getCustomer() {
			return this.customer;
		}

		public void setCustomer(Object customer) {
			this.customer = customer;
		}

	}

	record Hidden(String name, @JsonIgnore String secret) {
	}

	static class Ignoring {

		public String name;

		@JsonIgnore
		public Object field;

		private String getter;

		@JsonIgnore
		public String getGetter() {
			return this.getter;
		}

	}

	static class Unstored extends Bean {

		private int hidden;

	}

	static class Cached {

		private String name;

		private transient int cache;

		@JsonIgnore
		private String ignored;

		private int hash;

		public String getName() {
			return this.name;
		}

		public void setName(String name) {
			this.name = name;
		}

		@Override
		public boolean equals(Object other) {
			return other instanceof Cached cached && cached.name.equals(this.name);
		}

		@Override
		public int hashCode() {
			this.hash = this.name.hashCode();
			return this.hash;
		}

	}

	static class ReadOnly {

		private int hidden;

		public int getValue() {
			return this.hidden;
		}

	}

	static class Opaque {

		private int hidden = 5;

		@Override
		public String toString() {
			return String.valueOf(this.hidden);
		}

	}

	static class Node {

		private Node next;

		public Node getNext() {
			return this.next;
		}

		public void setNext(Node next) {
			this.next = next;
		}

	}

}
