package io.timingwheel;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

/**
 * Tests that the core is plain Java in one package, and one for the other modules.
 */
@AnalyzeClasses(packages = "io.timingwheel", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	@ArchTest
	static final ArchRule coreDependsOnTheJdkOnly = classes().should()
		.onlyDependOnClassesThat()
		.resideInAnyPackage("io.timingwheel", "io.timingwheel.internal", "java..", "org.jspecify.annotations");

	@ArchTest
	static final ArchRule coreIsOnePackage = classes().should()
		.resideInAnyPackage("io.timingwheel", "io.timingwheel.internal");

}
