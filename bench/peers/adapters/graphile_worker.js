const { Logger, makeWorkerUtils, run: runForEver, runOnce } = require('graphile-worker');
const { handle, run, settled, versionOf, wanted } = require('./conversation');

// Jobs are fetched 500 at a time and completed together, as its guide to performance advises.
const batched = {
  worker: { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0,
    failJobBatchDelay: 0 },
};
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});

run({
  version: versionOf('graphile-worker'),
  settings: (variant) => (variant === 'batched'
    ? 'concurrency 24, local queue of 500, batched completion' : 'defaults (concurrency 1)'),

  async producer(address) {
    const utils = await makeWorkerUtils({ connectionString: address, logger });
    await utils.migrate();
    return {
      one: (payload) => utils.addJob('job', payload),
      many: (payloads) =>
        utils.addJobs(payloads.map((payload) => ({ identifier: 'job', payload }))),
    };
  },

  async worker(address, variant) {
    const options = {
      connectionString: address, logger, noHandleSignals: true,
      preset: variant === 'batched' ? batched : {},
      taskList: { job: (payload) => handle(payload) },
    };
    // Its events come before a batch of completions is written; the end of this comes after.
    return () => (wanted ? runOnce(options).then(() => settled(wanted)) : runForEver(options));
  },
});
