// A folder with a store, and the processes that work on it. All of them are gone at the end.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { setTimeout as pause } from "node:timers/promises";

const program = process.env.HOLDFAST_PROGRAM;
const patience = 60_000;

/** Asks until the answer is there; a machine that is busy may take its time. */
export async function until(what, ask) {
  const deadline = Date.now() + patience;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await pause(50);
  }
}

/** Where nobody listens. */
export async function unused_address() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return `http://127.0.0.1:${port}`;
}

export class Place {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "holdfast-browser-"));
    this.file = join(this.folder, "work.db");
    this.processes = [];
    this.password = "correct horse battery staple";
    // Tokens and logs of the server belong into the folder, too.
    this.environment = {
      ...process.env,
      HOME: this.folder,
      XDG_STATE_HOME: this.folder,
      XDG_CONFIG_HOME: this.folder,
      HOLDFAST_STORE: `sqlite:${this.file}`,
    };
  }

  /** Runs a command to its end and answers what it printed. */
  async run(...command) {
    const options = { env: this.environment, cwd: this.folder, maxBuffer: 1 << 27 };
    return (await promisify(execFile)(program, command, options)).stdout.trim();
  }

  async json(...command) {
    const lines = await this.run("--json", ...command);
    return lines === "" ? [] : lines.split("\n").map((line) => JSON.parse(line));
  }

  /** Runs a command with this as its standard input. */
  feed(text, command, ...rest) {
    const child = this.start_program(command, rest, "pipe");
    child.stdin.end(text);
    return new Promise((done, fail) => {
      child.once("exit", (code) => (code === 0 ? done() : fail(new Error(child.said))));
    });
  }

  /** Starts a command that stays, such as a worker. */
  start(...command) {
    return this.start_program(program, command, "ignore");
  }

  start_program(name, command, input) {
    const child = spawn(name, command, {
      env: this.environment,
      cwd: this.folder,
      stdio: [input, "pipe", "pipe"],
    });
    child.said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data) => (child.said += data));
    this.processes.push(child);
    return child;
  }

  /** Somebody who may sign in with `password`. */
  add_user(file, name, role) {
    return this.feed(
      this.password + "\n",
      program,
      "user",
      "add",
      name,
      "--users",
      file,
      "--role",
      role,
    );
  }

  /** Starts the server and answers the link that opens a session, or its address without one. */
  async serve(...options) {
    this.serve_options = options;
    this.server = this.start("serve", "--listen", this.listen ?? "127.0.0.1:0", ...options);
    const open = options.includes("--no-auth");
    const pattern = open ? / at (http:\S+)\s/ : /with the link in (\S+)\s/;
    const told = await until("the server to be ready", () => {
      if (this.server.exitCode !== null) throw new Error(`the server ended: ${this.server.said}`);
      return this.server.said.match(pattern)?.[1];
    });
    const link = open ? told : readFileSync(resolve(this.folder, told), "utf8").trim();
    this.address = new URL(link).origin;
    this.listen = new URL(link).host;
    return link;
  }

  async stop_server() {
    const ended = new Promise((done) => this.server.once("exit", done));
    this.server.kill("SIGKILL");
    await ended;
  }

  /** As after a crash: nothing of what it knew in memory is left. */
  async start_server_again() {
    return this.serve(...this.serve_options);
  }

  async clean_up() {
    for (const child of this.processes) if (child.exitCode === null) child.kill("SIGKILL");
    await Promise.all(
      this.processes.map((child) =>
        child.exitCode !== null || child.signalCode !== null
          ? null
          : new Promise((done) => child.once("exit", done)),
      ),
    );
    rmSync(this.folder, { recursive: true, force: true });
  }
}
