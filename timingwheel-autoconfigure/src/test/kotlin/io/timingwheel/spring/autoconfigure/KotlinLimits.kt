package io.timingwheel.spring.autoconfigure

import io.timingwheel.spring.annotation.Timeout
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking

/** Functions that never end by themselves. */
open class KotlinLimits {

    @Timeout("20ms")
    open suspend fun suspending(): String = awaitCancellation()

    @Timeout("20ms")
    open fun flow(): Flow<String> = flow { awaitCancellation() }

    @Timeout("20ms")
    open fun deferred(): Deferred<String> = CompletableDeferred()

}

/** A function whose result is computed when somebody reads it. */
open class KotlinSequence {

    @Timeout("20ms")
    open fun limited(): Sequence<String> = sequenceOf()

}

/** Calls the functions from Java. */
object BlockingLimits {

    @JvmStatic
    fun suspending(limits: KotlinLimits): String = runBlocking { limits.suspending() }

    @JvmStatic
    fun flow(limits: KotlinLimits): List<String> = runBlocking { limits.flow().toList() }

    @JvmStatic
    fun deferred(limits: KotlinLimits): String = runBlocking { limits.deferred().await() }

}
