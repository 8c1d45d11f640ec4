package io.timingwheel.spring.aop.delayed

import io.timingwheel.spring.annotation.CancelDelayed
import io.timingwheel.spring.annotation.Delayed
import io.timingwheel.spring.annotation.Timeout
import java.util.concurrent.CopyOnWriteArrayList

/** A class as Kotlin compiles it by default: the class and its functions are final. */
class FinalByDefault {

    @Delayed("10s")
    fun run() {
    }

}

open class FinalFunction {

    @Delayed("10s")
    fun run() {
    }

}

open class Suspending {

    @Delayed("10s")
    open suspend fun run() {
    }

}

open class OpenService {

    open val closed: MutableList<Long> = CopyOnWriteArrayList()

    @Delayed(delay = "10s", name = "close-order", key = "#orderId")
    open fun closeIfUnpaid(orderId: Long) {
        closed.add(orderId)
    }

    @CancelDelayed(name = "close-order", key = "#orderId")
    open fun pay(orderId: Long) {
    }

    @Timeout("20ms")
    open fun slow() {
        Thread.sleep(60_000)
    }

}
