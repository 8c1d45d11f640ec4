/**
 * What applications do with durable tasks: they store, cancel, move and find them.
 * Applications use this package through their annotated methods and the template: its
 * types may change in any release.
 */
@NullMarked
package io.timingwheel.spring.durable.call;

import org.jspecify.annotations.NullMarked;
