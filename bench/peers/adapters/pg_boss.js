const PgBoss = require('pg-boss');
const { handle, run, settled, versionOf } = require('./conversation');

// Its own workers take one batch every two seconds, and never look more often than ten times a
// second. So that it can show what it is able to do, four loops fetch without a pause while there
// is work, and look ten times a second while there is none.
const batch = 1000;
const loops = 4;
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

async function open(address) {
  const boss = new PgBoss({ connectionString: address });
  boss.on('error', console.error);
  await boss.start();
  return boss;
}

async function drain(boss) {
  for (;;) {
    const jobs = await boss.fetch('bench', batch);
    if (!jobs) {
      await pause();
      continue;
    }
    for (const job of jobs) await handle(job.data);
    await boss.complete(jobs.map((job) => job.id));
    settled(jobs.length);
  }
}

run({
  version: versionOf('pg-boss'),
  settings: () => `${loops} loops fetch and complete ${batch} at a time, look every 100 ms`,

  async producer(address) {
    const boss = await open(address);
    return {
      one: (payload) => boss.send('bench', payload),
      many: (payloads) => boss.insert(payloads.map((data) => ({ name: 'bench', data }))),
    };
  },

  async worker(address) {
    const boss = await open(address);
    return () => {
      for (let i = 0; i < loops; i += 1) drain(boss);
    };
  },
});
