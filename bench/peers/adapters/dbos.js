const { DBOS, DBOSClient, WorkflowQueue } = require('@dbos-inc/dbos-sdk');
const { handle, run, settled, silent, versionOf } = require('./conversation');

const queueName = 'bench';

function configure(address) {
  // A name of its own for each process, as it asks for where there are several.
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: address, logger: silent,
    executorID: String(process.pid) });
}

run({
  version: versionOf('@dbos-inc/dbos-sdk'),
  settings: () => 'workflows of one step, no limit on concurrency, looks every second (default)',

  async producer(address) {
    // This makes the tables.
    configure(address);
    await DBOS.launch();
    await DBOS.shutdown();
    const client = await DBOSClient.create({ systemDatabaseUrl: address, logger: silent });
    return {
      one: (payload) => client.enqueue({ queueName, workflowName: 'job' }, payload),
    };
  },

  async worker(address) {
    configure(address);
    new WorkflowQueue(queueName); // registers itself
    DBOS.registerWorkflow(async (payload) => {
      await DBOS.runStep(() => handle(payload), { name: 'step' });
      settled();
    }, { name: 'job' });
    return () => DBOS.launch();
  },
});
