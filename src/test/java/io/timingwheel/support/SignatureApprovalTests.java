package io.timingwheel.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Tests that nobody changes the API of users without saying so. The approved file
 * {@code signatures-a.b.txt} of a module has the package whose name ends with
 * {@code a.b}, and {@code signatures.txt} the uppermost package of the module.
 */
class SignatureApprovalTests {

	private static final Path CLASSES = Path.of("target", "classes");

	@TestFactory
	Stream<DynamicTest> theApiOfAPackageIsTheApprovedOne() {
		return Stream.ofNullable(Approved.FOLDER.toFile().list())
			.flatMap(Stream::of)
			.filter((file) -> file.startsWith("signatures"))
			.map((file) -> DynamicTest.dynamicTest(file,
					() -> Approved.verify(getClass(), Approved.FOLDER.resolve(file),
							PublicSignatures.of(CLASSES, folder(file.replaceAll("signatures-?|.txt", ""))))));
	}

	private static Path folder(String packageName) throws IOException {
		try (Stream<Path> files = Files.walk(CLASSES)) {
			return files.filter((file) -> file.toString().endsWith(".class"))
				.map(Path::getParent)
				.filter((folder) -> folder.endsWith(packageName.replace('.', '/')) || packageName.isEmpty())
				.min(Comparator.comparing(Path::getNameCount))
				.orElseThrow();
		}
	}

}
