// Bundles every test and runs it with node's own test runner, which does not know TypeScript.
import { readdirSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "test-built");
rmSync(out, { recursive: true, force: true });
await build({
  entryPoints: readdirSync(here)
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(here, name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
});
const files = readdirSync(out).map((name) => join(out, name));
process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);
