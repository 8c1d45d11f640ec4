package io.timingwheel.spring.durable.redis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class ScriptSourceTests {

	private static final Pattern DEFINITION = Pattern.compile("^local (?:function (\\w+)|([\\w, ]+) =)",
			Pattern.MULTILINE);

	private static final Pattern COMMENT_OR_TEXT = Pattern.compile("'(?:\\\\.|[^'\\\\])*'|--.*");

	/** A name that is neither a field nor the key of a field. */
	private static final Pattern USE = Pattern.compile("(?<![.\\w])[A-Za-z_]\\w*(?!\\w| =[^=])");

	private static final Pattern COMMAND = Pattern.compile("'([HSZ][A-Z]{3,}|DEL|TIME)'");

	private final Map<String, String> files = new TreeMap<>();

	private String source(String script) {
		return ScriptSource.of(script, this.files::get);
	}

	@Test
	void theSourceHasEachPartOnceAfterThePartsThatItNeeds() {
		this.files.put("claim.lua", "-- needs: top,  left\n-- needs: right\nscript\n");
		this.files.put("parts/top.lua", "-- needs: left, right\ntop\n");
		this.files.put("parts/left.lua", "-- needs: base\nleft\n");
		this.files.put("parts/right.lua", "right\n-- needs: nothing, since this is not the first line\n");
		this.files.put("parts/base.lua", "base\n");
		this.files.put("parts/other.lua", "other\n");
		assertThat(source("claim").lines().filter((line) -> !line.startsWith("--"))).containsExactly("base", "left",
				"right", "top", "script");
	}

	@Test
	void aPartThatDoesNotExistIsNamedWithTheTextThatNeedsIt() {
		this.files.put("claim.lua", "-- needs: known\n");
		this.files.put("parts/known.lua", "-- needs: unknwon\n");
		assertThatIllegalStateException().isThrownBy(() -> source("claim"))
			.withMessage("known needs the part unknwon, which does not exist");
		assertThatIllegalStateException().isThrownBy(() -> source("calim")).withMessage("There is no script calim");
	}

	@Test
	void aScriptMayHaveTheNameOfAPart() {
		this.files.put("find.lua", "-- needs: find\nscript\n");
		this.files.put("parts/find.lua", "part\n");
		assertThat(source("find").lines()).containsExactly("part", "-- needs: find", "script");
	}

	@Test
	void aPartThatNeedsItselfIsNamed() {
		this.files.put("claim.lua", "-- needs: hen\n");
		this.files.put("parts/hen.lua", "-- needs: egg\n");
		this.files.put("parts/egg.lua", "-- needs: hen\n");
		assertThatIllegalStateException().isThrownBy(() -> source("claim"))
			.withMessage("The part hen needs itself: [claim.lua, hen, egg]");
	}

	/**
	 * Redis reports a missing name only when the script comes to it.
	 */
	@ParameterizedTest
	@EnumSource
	void aScriptHasTheNamesThatItUses(Script script) throws IOException {
		Set<String> known = new HashSet<>();
		parts().values().forEach((text) -> known.addAll(defined(text)));
		Set<String> defined = new HashSet<>();
		for (String text : texts(script)) {
			defined.addAll(defined(text));
			Set<String> used = used(text);
			used.retainAll(known);
			assertThat(defined).containsAll(used);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aScriptHasNoPartThatItDoesNotUse(Script script) throws IOException {
		List<String> texts = texts(script);
		for (int i = 0; i < texts.size() - 1; i++) {
			Set<String> used = new HashSet<>();
			texts.subList(i + 1, texts.size()).forEach((text) -> used.addAll(used(text)));
			assertThat(used).containsAnyElementsOf(defined(texts.get(i)));
		}
	}

	/**
	 * Otherwise a user without the right to run a command is found by the first task that
	 * needs it.
	 */
	@ParameterizedTest
	@EnumSource
	void theCheckTriesEachCommandOfAScript(Script script) {
		assertThat(commands(Script.CHECK)).containsAll(commands(script));
	}

	private static Set<String> commands(Script script) {
		Set<String> commands = new HashSet<>();
		Matcher matcher = COMMAND.matcher(new String(script.source(), StandardCharsets.UTF_8));
		while (matcher.find()) {
			commands.add(matcher.group(1));
		}
		return commands;
	}

	/**
	 * The parts of a script in their order, and the script.
	 */
	private static List<String> texts(Script script) throws IOException {
		String source = new String(script.source(), StandardCharsets.UTF_8);
		Map<Integer, String> byPosition = new TreeMap<>();
		parts().values().forEach((text) -> byPosition.put(source.indexOf(text), text));
		byPosition.remove(-1);
		List<String> texts = new ArrayList<>(byPosition.values());
		texts.add(source.substring(texts.stream().mapToInt(String::length).sum()));
		return texts;
	}

	private static Map<String, String> parts() throws IOException {
		Map<String, String> parts = new TreeMap<>();
		for (Resource part : new PathMatchingResourcePatternResolver()
			.getResources("classpath:io/timingwheel/spring/durable/redis/parts/*.lua")) {
			parts.put(String.valueOf(part.getFilename()), part.getContentAsString(StandardCharsets.UTF_8));
		}
		assertThat(parts).hasSizeGreaterThan(10);
		return parts;
	}

	/**
	 * The names that a text defines for the texts after it.
	 */
	private static Set<String> defined(String text) {
		Set<String> names = new HashSet<>();
		Matcher matcher = DEFINITION.matcher(text);
		while (matcher.find()) {
			names.addAll((matcher.group(1) != null) ? Set.of(matcher.group(1)) : Set.of(matcher.group(2).split(", ")));
		}
		return names;
	}

	private static Set<String> used(String text) {
		Set<String> names = new HashSet<>();
		Matcher matcher = USE.matcher(COMMENT_OR_TEXT.matcher(text).replaceAll("''"));
		while (matcher.find()) {
			names.add(matcher.group());
		}
		return names;
	}

}
