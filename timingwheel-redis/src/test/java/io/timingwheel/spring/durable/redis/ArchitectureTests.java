package io.timingwheel.spring.durable.redis;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * Which packages a store may use. Maven enforces the dependencies between modules.
 */
@AnalyzeClasses(packages = "io.timingwheel.spring.durable.redis", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String AUTOCONFIGURE = "io.timingwheel.spring.durable.redis.autoconfigure";

	@ArchTest
	static final ArchRule onlyTheAutoConfigurationUsesSpringBoot = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.boot..", "io.timingwheel.spring.autoconfigure..",
				"io.timingwheel.spring.durable.autoconfigure", AUTOCONFIGURE);

	@ArchTest
	static final ArchRule packagesAreNullMarked = classes()
		.should(ArchCondition.from(DescribedPredicate.describe("reside in a package that is @NullMarked",
				(type) -> type.getPackage().isAnnotatedWith(NullMarked.class))));

}
