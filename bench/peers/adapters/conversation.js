// What every adapter in JavaScript does alike: it talks with the driver (see ../conversation.md).
const readline = require('readline');

const [role, address, variant, jobs] = process.argv.slice(2);
const wanted = Number(jobs);
const say = (line) => process.stdout.write(`${line}\n`);
const usual = { to: 'ada@example.org', template: 'welcome', locale: 'en-GB', account: 12345 };

async function handle(payload) {
  if (payload.at) {
    say(`picked ${process.hrtime.bigint() - BigInt(payload.at)}`);
  } else if (payload.sleeper) {
    say('began');
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  }
}

let ended = 0;
function settled(count = 1) {
  ended += count;
  if (ended === wanted) say('done');
}

async function obey(producer, line) {
  const [verb, count] = line.split(' ');
  if (verb === 'single') {
    for (let i = 0; i < Number(count); i += 1) await producer.one(usual);
  } else if (verb === 'bulk') {
    if (!producer.many) return 'cannot';
    for (let left = Number(count); left > 0; left -= 1000)
      await producer.many(Array(Math.min(left, 1000)).fill(usual));
  } else if (verb === 'stamped') {
    await producer.one({ at: String(process.hrtime.bigint()) });
  } else {
    await producer.one({ sleeper: true });
  }
  return 'done';
}

// A peer has its `version`, `settings(variant)` in words, and two functions:
// `producer(address, variant)` gives an object with `one(payload)` and, where the peer can do it,
// `many(payloads)`; `worker(address, variant)` connects, and gives a function that starts to work:
// it calls `handle(payload)` for each job, and `settled(count)` when its store knows that they are
// done.
exports.run = async (peer) => {
  if (role === 'worker') {
    const work = await peer.worker(address, variant);
    say('ready');
    work();
    process.stdin.resume().on('end', () => process.exit(0));
    return;
  }
  const producer = await peer.producer(address, variant);
  say(JSON.stringify({ version: peer.version, settings: peer.settings(variant) }));
  for await (const line of readline.createInterface({ input: process.stdin }))
    say(await obey(producer, line));
  process.exit(0);
};

// Many packages do not let others read their package.json in the usual way.
exports.versionOf = (name) => require(`${process.env.NODE_PATH}/${name}/package.json`).version;
exports.handle = handle;
exports.settled = settled;
exports.wanted = wanted;
exports.silent = { error: console.error, warn() {}, info() {}, debug() {} };
