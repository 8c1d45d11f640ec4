package io.timingwheel.spring.durable.jdbc;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.targetOwner;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * What a store may use. Maven enforces the dependencies between modules.
 */
@AnalyzeClasses(packages = "io.timingwheel.spring.durable.jdbc", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String AUTOCONFIGURE = "io.timingwheel.spring.durable.jdbc.autoconfigure";

	@ArchTest
	static final ArchRule onlyTheAutoConfigurationUsesSpringBoot = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.boot..", "io.timingwheel.spring.autoconfigure..",
				"io.timingwheel.spring.durable.autoconfigure", AUTOCONFIGURE);

	/** All nodes go by the clock of the store, so that their own clocks may be wrong. */
	@ArchTest
	static final ArchRule theClockOfTheMachineDecidesNothing = noClasses().should()
		.accessTargetWhere(target(nameMatching("now|millis|currentTimeMillis"))
			.and(targetOwner(resideInAnyPackage("java.time..", "java.lang..", "java.util.."))));

}
