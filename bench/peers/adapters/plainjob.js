const Database = require('better-sqlite3');
const { handle, run, settled, silent, versionOf } = require('./conversation');

// It only comes as an ES module, and those are not searched for in NODE_PATH.
const plainjob = import(`${process.env.NODE_PATH}/plainjob/dist/plainjob.js`);

async function open(file, synchronous) {
  const { better, defineQueue } = await plainjob;
  const database = new Database(file, { timeout: 30_000 });
  const queue = defineQueue({ connection: better(database), logger: silent });
  // After its own pragmas, which ask for NORMAL.
  database.pragma(`synchronous = ${synchronous}`);
  return queue;
}

run({
  version: versionOf('plainjob'),
  settings: () => `better-sqlite3 ${versionOf('better-sqlite3')}, ` +
    'looks every second (its default)',

  async producer(file, synchronous) {
    const queue = await open(file, synchronous);
    return {
      one: (payload) => queue.add('bench', payload),
      many: (payloads) => queue.addMany('bench', payloads),
    };
  },

  async worker(file, synchronous) {
    const { defineWorker } = await plainjob;
    const queue = await open(file, synchronous);
    const worker = defineWorker('bench', (job) => handle(JSON.parse(job.data)),
      { queue, logger: silent, onCompleted: () => settled() });
    return () => worker.start();
  },
});
