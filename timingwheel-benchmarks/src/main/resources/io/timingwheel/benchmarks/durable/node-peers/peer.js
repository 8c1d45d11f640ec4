'use strict';

// A node of a peer that is written for Node.js. Reads commands, and answers each with figures, as NodeMain does.
// Arguments: the peer, the address of the server, and 'fast' for the settings for throughput.

const readline = require('node:readline');

const ANSWER = 'figures:';
const FILLERS = 8;
const BATCH = 100;
const PACERS = 16;
const MIN_DELAY_MILLIS = 500;
const MAX_DELAY_MILLIS = 5000;

class Probe {

  constructor() {
    this.lateness = new Float64Array(4_000_000);
    this.reset();
  }

  reset() {
    this.count = 0;
    this.first = Infinity;
    this.last = 0;
  }

  // The body of the tasks. It reads the clock.
  run(due) {
    const micros = (performance.timeOrigin + performance.now()) * 1000;
    this.lateness[this.count++] = micros - due * 1000;
    this.first = Math.min(this.first, micros);
    this.last = Math.max(this.last, micros);
  }

  figures() {
    const sorted = this.lateness.slice(0, this.count).sort();
    const figures = { count: this.count, first: this.first, last: this.last };
    if (sorted.length > 0) {
      const millis = (quantile) => sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)] / 1000;
      figures.early = sorted.filter((late) => late < 0).length;
      figures.p50 = millis(0.5);
      figures.p99 = millis(0.99);
      figures.max = millis(1);
    }
    return figures;
  }

}

async function sum(callers, work) {
  const counts = await Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)));
  return counts.reduce((one, other) => one + other, 0);
}

// Stores tasks as fast as possible. The function 'due' gives the time at which the tasks of a batch are due.
function fill(node, count, due) {
  return sum(FILLERS, async (caller) => {
    let stored = 0;
    for (let i = caller * BATCH; i < count; i += FILLERS * BATCH) {
      const size = Math.min(BATCH, count - i);
      await node.enqueueBatch(size, due());
      stored += size;
    }
    return stored;
  });
}

// Stores tasks that are due in an hour. First one caller warms up, then all of them.
async function rate(node, callers, batch, seconds) {
  await store(node, 1, batch, 2 * seconds);
  await store(node, callers, batch, seconds / 2);
  const start = performance.now();
  const stored = await store(node, callers, batch, seconds);
  return stored * 1000 / (performance.now() - start);
}

function store(node, callers, batch, seconds) {
  const end = performance.now() + seconds * 1000;
  return sum(callers, async () => {
    let stored = 0;
    while (performance.now() < end) {
      const due = Date.now() + 3_600_000;
      await (batch === 1 ? node.enqueue(due) : node.enqueueBatch(batch, due));
      stored += batch;
    }
    return stored;
  });
}

// Stores tasks at a steady rate, with one delay or with random ones of half a second to five.
function steady(node, rate, seconds, fixedDelay) {
  const start = performance.now();
  const count = Math.floor(rate * seconds);
  return sum(PACERS, async (caller) => {
    let stored = 0;
    for (let i = caller; i < count; i += PACERS) {
      const wait = start + i * 1000 / rate - performance.now();
      if (wait > 0) {
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
      const delay = fixedDelay ?? MIN_DELAY_MILLIS + Math.floor(Math.random() * (MAX_DELAY_MILLIS - MIN_DELAY_MILLIS));
      await node.enqueue(Date.now() + delay);
      stored++;
    }
    return stored;
  });
}

async function answer(node, probe, [command, ...words]) {
  const numbers = words.map(Number);
  switch (command) {
    case 'pause':
      await node.pause();
      return {};
    case 'resume':
      await node.resume();
      return {};
    case 'reset':
      probe.reset();
      return {};
    case 'cpu': {
      const usage = process.cpuUsage();
      return { nanos: (usage.user + usage.system) * 1000 };
    }
    case 'count':
      return { count: probe.count };
    case 'figures':
      return probe.figures();
    case 'fill': {
      const due = Date.now() + numbers[1] * 1000;
      await fill(node, numbers[0], () => due);
      return { left: due - Date.now() };
    }
    case 'fill-now':
      await fill(node, numbers[0], Date.now);
      return {};
    case 'enqueue':
      return { rate: await rate(node, ...numbers) };
    case 'load': {
      const start = performance.now();
      const count = await steady(node, ...numbers);
      return { count, rate: count * 1000 / (performance.now() - start) };
    }
    default:
      throw new Error('Unknown command ' + command);
  }
}

function print(figures) {
  console.log(ANSWER + Object.entries(figures).map(([name, value]) => name + '=' + value).join(' '));
}

async function main([peer, url, settings]) {
  const probe = new Probe();
  const node = await require('./' + peer + '.js').start(url, (due) => probe.run(due), settings === 'fast');
  print({});
  for await (const line of readline.createInterface({ input: process.stdin })) {
    print(await answer(node, probe, line.split(' ')));
  }
  await node.close();
}

main(process.argv.slice(2)).then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
