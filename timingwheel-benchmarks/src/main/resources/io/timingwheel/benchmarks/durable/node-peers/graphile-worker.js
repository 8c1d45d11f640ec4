'use strict';

const { Logger, makeWorkerUtils, run } = require('graphile-worker');
const { Pool } = require('pg');

const NAME = 'probe';
const MAX_CONNECTIONS = 20;

// As many as our node has threads.
const JOBS = 8;

// The settings that its documentation gives for throughput: jobs are fetched and completed in batches.
const FAST = {
  concurrentJobs: 24,
  localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

exports.start = async (url, body, fast) => {
  const pgPool = new Pool({ connectionString: url, max: MAX_CONNECTIONS });
  pgPool.on('error', () => {
    // The server ends.
  });
  const logger = new Logger(() => () => {
  });
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  const settings = fast ? FAST : { concurrentJobs: JOBS };
  const start = () => run({
    pgPool,
    logger,
    noHandleSignals: true,
    taskList: { [NAME]: (payload) => body(payload.due) },
    preset: { worker: settings },
  });
  let runner = await start();
  return {
    enqueue: (due) => utils.addJob(NAME, { due }, { runAt: new Date(due) }),
    enqueueBatch: (count, due) => utils.addJobs(
        Array.from({ length: count }, () => ({ identifier: NAME, payload: { due }, runAt: new Date(due) }))),
    async pause() {
      await runner?.stop();
      runner = null;
    },
    async resume() {
      runner = await start();
    },
    async close() {
      await runner?.stop();
      await utils.release();
    },
  };
};
