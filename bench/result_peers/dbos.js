// Workflows of two steps that do nothing, ten at a time; prints how many end in a second.
const { DBOS } = require('@dbos-inc/dbos-sdk');

const [address, count] = [process.argv[2], Number(process.argv[3])];
const quiet = () => {};
const silent = { info: quiet, debug: quiet, warn: quiet, error: console.error };

async function main() {
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: address, logger: silent });
  const workflow = DBOS.registerWorkflow(async () => {
    await DBOS.runStep(async () => 1, { name: 'first' });
    await DBOS.runStep(async () => 2, { name: 'second' });
  }, { name: 'two' });
  await DBOS.launch();
  let next = 0;
  const begin = process.hrtime.bigint();
  const lane = async () => { while (next++ < count) await workflow(); };
  await Promise.all(Array.from({ length: 10 }, lane));
  console.log(count / (Number(process.hrtime.bigint() - begin) / 1e9));
  await DBOS.shutdown();
}

main();
