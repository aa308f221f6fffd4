const { Queue, Worker } = require('bullmq');
const Redis = require('ioredis');
const { handle, run, settled, versionOf } = require('./conversation');

// A worker's connection must wait for ever; BullMQ insists on this.
const connect = (address) => new Redis(address, { maxRetriesPerRequest: null });
const options = { removeOnComplete: true };

run({
  version: versionOf('bullmq'),
  settings: () => `ioredis ${versionOf('ioredis')}, concurrency 50, removes finished jobs`,

  async producer(address) {
    const queue = new Queue('bench', { connection: connect(address) });
    await queue.waitUntilReady();
    return {
      one: (payload) => queue.add('job', payload, options),
      many: (payloads) =>
        queue.addBulk(payloads.map((data) => ({ name: 'job', data, opts: options }))),
    };
  },

  async worker(address) {
    const worker = new Worker('bench', (job) => handle(job.data),
      { connection: connect(address), concurrency: 50, autorun: false });
    worker.on('error', console.error);
    worker.on('completed', () => settled());
    await worker.waitUntilReady();
    return () => worker.run();
  },
});
