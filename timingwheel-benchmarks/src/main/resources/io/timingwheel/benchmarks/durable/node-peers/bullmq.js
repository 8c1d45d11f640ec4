'use strict';

const { Queue, Worker } = require('bullmq');
const { Redis } = require('ioredis');

const NAME = 'probe';

// How many jobs a worker runs at once.
const JOBS = 50;

exports.start = async (url, body) => {
  const connect = () => new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue(NAME, { connection: connect() });
  const worker = new Worker(NAME, async (job) => body(job.data.due), { connection: connect(), concurrency: JOBS });
  worker.on('error', () => {
    // The server ends.
  });
  await worker.waitUntilReady();
  const options = (due) => ({ delay: Math.max(0, due - Date.now()), removeOnComplete: true });
  return {
    enqueue: (due) => queue.add(NAME, { due }, options(due)),
    enqueueBatch: (count, due) => queue.addBulk(
        Array.from({ length: count }, () => ({ name: NAME, data: { due }, opts: options(due) }))),
    pause: () => worker.pause(),
    resume: () => worker.resume(),
    async close() {
      await worker.close(true);
      await queue.close();
    },
  };
};
