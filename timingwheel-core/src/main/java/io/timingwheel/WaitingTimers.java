package io.timingwheel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The timers that wait because their executors refuse, in doubly linked lists. Each
 * {@link RefusalQueue} has a list. A timer stores the number of its node, see
 * {@link Timer#waitIn}, so that the timer can leave its list in constant time.
 *
 * <p>
 * Nodes are stored in blocks. A block is freed once its last node is free, and nodes of
 * older blocks are not used again. The memory therefore shrinks after a flood.
 *
 * <p>
 * The lock guards all fields. A thread that also needs the lock of a shard takes the lock
 * of the shard first.
 */
final class WaitingTimers {

	private static final int INDEX_BITS = 6;

	private static final int BLOCK_SIZE = 1 << INDEX_BITS;

	private static final int MAX_BLOCKS = Timer.NUMBERS / BLOCK_SIZE;

	private static final @Nullable Block[] NO_BLOCKS = new Block[0];

	private static final int[] NO_NUMBERS = new int[0];

	final ShardLock lock = new ShardLock.Padded();

	private @Nullable Block[] blocks = NO_BLOCKS;

	/** The numbers of the free blocks. */
	private int[] freeNumbers = NO_NUMBERS;

	private int freeCount;

	/** The block whose nodes are handed out. */
	private @Nullable Block filling;

	void lock() {
		this.lock.lock();
	}

	/**
	 * Takes the lock before threads that wait for it. Only the driver calls this.
	 */
	void lockNext() {
		this.lock.lockNext();
	}

	void unlock() {
		this.lock.unlock();
	}

	/**
	 * Creates a list with a mark in it. The caller holds the lock, as for all methods
	 * below.
	 * @return the node that ends the list. The next node is the mark
	 */
	int createList() {
		int list = allocate(null);
		link(list, list, list);
		insertAfter(list, allocate(null));
		return list;
	}

	/**
	 * Creates a node for a timer, which is in no list yet.
	 */
	int allocate(@Nullable Timer timer) {
		Block block = this.filling;
		if (block == null) {
			block = createBlock();
			this.filling = block;
		}
		int index = block.used++;
		block.live++;
		block.timers[index] = timer;
		if (block.used == BLOCK_SIZE) {
			this.filling = null;
		}
		return block.number << INDEX_BITS | index;
	}

	void insertBefore(int node, int inserted) {
		insertAfter(previous(node), inserted);
	}

	void insertAfter(int node, int inserted) {
		int next = next(node);
		link(inserted, node, next);
		block(node).next[index(node)] = inserted;
		block(next).previous[index(next)] = inserted;
	}

	/**
	 * Removes a node from its list, but does not free it.
	 */
	void unlink(int node) {
		int previous = previous(node);
		int next = next(node);
		block(previous).next[index(previous)] = next;
		block(next).previous[index(next)] = previous;
	}

	/**
	 * Frees a node that is in no list.
	 */
	void free(int node) {
		Block block = block(node);
		block.timers[index(node)] = null;
		if (--block.live == 0) {
			if (block == this.filling) {
				this.filling = null;
			}
			this.blocks[block.number] = null;
			this.freeNumbers[this.freeCount++] = block.number;
			if (this.freeCount == this.blocks.length) {
				this.blocks = NO_BLOCKS;
				this.freeNumbers = NO_NUMBERS;
				this.freeCount = 0;
			}
		}
	}

	/**
	 * Removes and frees a node.
	 */
	void remove(int node) {
		unlink(node);
		free(node);
	}

	int next(int node) {
		return block(node).next[index(node)];
	}

	int previous(int node) {
		return block(node).previous[index(node)];
	}

	/**
	 * The timer of a node, null if the node is a mark or the end of its list.
	 */
	@Nullable Timer timer(int node) {
		return block(node).timers[index(node)];
	}

	/**
	 * All timers that have a node.
	 */
	List<Timer> all() {
		List<Timer> all = new ArrayList<>();
		for (Block block : this.blocks) {
			if (block != null) {
				for (Timer timer : block.timers) {
					if (timer != null) {
						all.add(timer);
					}
				}
			}
		}
		return all;
	}

	private void link(int node, int previous, int next) {
		Block block = block(node);
		block.previous[index(node)] = previous;
		block.next[index(node)] = next;
	}

	private Block createBlock() {
		if (this.freeCount == 0) {
			grow();
		}
		int number = this.freeNumbers[this.freeCount - 1];
		Block block = new Block(number);
		this.freeCount--;
		this.blocks[number] = block;
		return block;
	}

	private void grow() {
		int count = this.blocks.length;
		if (count == MAX_BLOCKS) {
			throw new IllegalStateException("More than " + Timer.NUMBERS + " timers wait for their executors");
		}
		int newCount = Math.max(4, 2 * count);
		@Nullable Block[] blocks = Arrays.copyOf(this.blocks, newCount);
		int[] freeNumbers = new int[newCount];
		for (int number = newCount - 1; number >= count; number--) {
			freeNumbers[newCount - 1 - number] = number;
		}
		this.blocks = blocks;
		this.freeNumbers = freeNumbers;
		this.freeCount = newCount - count;
	}

	private Block block(int node) {
		Block block = this.blocks[node >>> INDEX_BITS];
		if (block == null) {
			throw new IllegalStateException("The node " + node + " is free");
		}
		return block;
	}

	private static int index(int node) {
		return node & (BLOCK_SIZE - 1);
	}

	private static final class Block {

		private final int number;

		private final @Nullable Timer[] timers = new Timer[BLOCK_SIZE];

		private final int[] next = new int[BLOCK_SIZE];

		private final int[] previous = new int[BLOCK_SIZE];

		/** How many nodes have been handed out. */
		private int used;

		/** How many of them are not free. */
		private int live;

		Block(int number) {
			this.number = number;
		}

	}

}
