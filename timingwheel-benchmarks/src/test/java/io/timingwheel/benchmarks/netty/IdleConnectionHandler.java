package io.timingwheel.benchmarks.netty;

import java.time.Duration;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;

/**
 * Closes a connection that has sent nothing for a while. Each read moves the timeout, by
 * the time of the loop's turn.
 */
final class IdleConnectionHandler extends ChannelInboundHandlerAdapter {

	private final TimingWheel wheel;

	private final long idleNanos;

	private LoopTime time;

	private TimerHandle timeout;

	IdleConnectionHandler(TimingWheel wheel, Duration idle) {
		this.wheel = wheel;
		this.idleNanos = idle.toNanos();
	}

	@Override
	public void channelActive(ChannelHandlerContext ctx) {
		this.time = LoopTime.of(this.wheel);
		// close() only passes the work to the loop, so it may run on the wheel's thread.
		this.timeout = this.wheel.scheduleAt((DirectTask) ctx::close, deadline(ctx));
		ctx.fireChannelActive();
	}

	@Override
	public void channelRead(ChannelHandlerContext ctx, Object message) {
		this.timeout.rescheduleAt(deadline(ctx));
		ctx.fireChannelRead(message);
	}

	@Override
	public void channelInactive(ChannelHandlerContext ctx) {
		this.timeout.cancel();
		ctx.fireChannelInactive();
	}

	private long deadline(ChannelHandlerContext ctx) {
		return this.time.nanoTime(ctx.executor()) + this.idleNanos;
	}

}
