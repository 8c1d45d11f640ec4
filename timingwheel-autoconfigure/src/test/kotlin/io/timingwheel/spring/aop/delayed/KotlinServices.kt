package io.timingwheel.spring.aop.delayed

import io.timingwheel.spring.annotation.CancelDelayed
import io.timingwheel.spring.annotation.Delayed
import io.timingwheel.spring.annotation.Timeout
import java.util.concurrent.CompletableFuture
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runBlocking

/** A class as Kotlin compiles it by default: the class and its functions are final. */
class FinalByDefault {

    @Delayed("10s")
    fun run() {
    }

}

open class Suspending {

    @Delayed("10s")
    open suspend fun run() {
    }

}

/** Payments that suspend until the bank has answered. */
open class SuspendingPayments {

    @Delayed(delay = "10s", name = "close-order", key = "#orderId")
    open fun closeIfUnpaid(orderId: Long) {
    }

    @CancelDelayed(name = "close-order", key = "#orderId")
    open suspend fun pay(orderId: Long, bank: CompletableFuture<String>): String = bank.await()

    @CancelDelayed(name = "close-order", key = "#orderId")
    open suspend fun payWithoutReceipt(orderId: Long, bank: CompletableFuture<String>) {
        bank.await()
    }

    @CancelDelayed(name = "close-order", key = "#orderId")
    open fun payInParts(orderId: Long, bank: CompletableFuture<String>): Flow<String> = flow {
        emit("first")
        emit(bank.await())
    }

}

/** Limits of functions that never end by themselves. */
open class Limits {

    @Timeout("20ms")
    open fun flow(): Flow<String> = flow { awaitCancellation() }

    @Timeout("20ms")
    open fun deferred(): Deferred<String> = CompletableDeferred()

}

open class LimitedSuspending {

    @Timeout("20ms")
    open suspend fun run() {
    }

}

/** The result is computed when somebody reads it. */
open class LimitedSequence {

    @Timeout("20ms")
    open fun limited(): Sequence<String> = sequenceOf()

}

/** Calls suspending functions from Java. */
object Blocking {

    @JvmStatic
    fun flow(limits: Limits): List<String> = runBlocking { limits.flow().toList() }

    @JvmStatic
    fun deferred(limits: Limits): String = runBlocking { limits.deferred().await() }

    @JvmStatic
    fun pay(payments: SuspendingPayments, orderId: Long, bank: CompletableFuture<String>): String =
        runBlocking { payments.pay(orderId, bank) }

    @JvmStatic
    fun payWithoutReceipt(payments: SuspendingPayments, orderId: Long, bank: CompletableFuture<String>) =
        runBlocking { payments.payWithoutReceipt(orderId, bank) }

    @JvmStatic
    fun payInParts(payments: SuspendingPayments, orderId: Long, bank: CompletableFuture<String>): List<String> =
        runBlocking { payments.payInParts(orderId, bank).toList() }

}
