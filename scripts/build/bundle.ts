/** Bundles a program and its dependencies into one file, for either engine. */

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import esbuild, { type BuildOptions, type Plugin } from "esbuild";

/** The root of the repository. */
export const root = resolve(import.meta.dirname, "../..");

/** What to bundle, and for which engine. */
export interface BundleOptions {
  readonly entry: string;
  readonly output: string;
  readonly engine: "node" | "quickjs";
}

/** Writes the bundle, minified. */
export async function bundle({ entry, output, engine }: BundleOptions): Promise<void> {
  await esbuild.build({ ...optionsFor(engine), entryPoints: [entry], outfile: output });
}

/** The files that bundles are made of, relative to the root. */
export async function bundledFiles(
  entryPoints: readonly string[],
  engine: BundleOptions["engine"],
): Promise<readonly string[]> {
  const { metafile } = await esbuild.build({
    ...optionsFor(engine),
    metafile: true,
    write: false,
    entryPoints: [...entryPoints],
    outdir: root,
  });
  return Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path);
}

/**
 * Bundles two programs for QuickJS, of which the second runs after the first: what is in both is in the first one alone,
 * which leaves it in `host.shared`.
 */
export async function bundleTogether(
  first: string,
  second: string,
): Promise<readonly [first: string, second: string]> {
  const { outputFiles } = await esbuild.build({
    ...optionsFor("quickjs"),
    format: "esm",
    splitting: true,
    write: false,
    entryPoints: { first, second },
    chunkNames: "shared",
    outdir: root,
  });
  const textOf = (name: string): string =>
    outputFiles.find(({ path }) => path === join(root, `${name}.js`))?.text ?? "";
  const shared = textOf("shared").replace(
    /export\{(.*)\};\s*$/,
    (_, names) => `return{${names.replace(/([^,]+) as ([^,]+)/g, "$2:$1")}};`,
  );
  const programs = [textOf("first"), textOf("second")].map((text) =>
    text.replace(
      /^import\{(.*?)\}from"\.\/shared\.js";/,
      (_, names) => `const{${names.replaceAll(" as ", ":")}}=host.shared;`,
    ),
  );
  const [one = "", other = ""] = programs.map((text) => `(()=>{${text}})();`);
  return [`"use strict";host.shared=(()=>{${shared}})();${one}`, `"use strict";${other}`];
}

function optionsFor(engine: BundleOptions["engine"]): BuildOptions {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return {
    absWorkingDir: root,
    bundle: true,
    minify: true,
    ...(engine === "node"
      ? { platform: "node", format: "cjs", target: "node26" }
      : { platform: "neutral", mainFields: ["main"], format: "iife", target: "es2023" }),
    // proper-lockfile asks for graceful-fs, whose queues a synchronous process never uses.
    alias: { "graceful-fs": "node:fs" },
    plugins: [lazyLockfile, lightIpaddr(engine)],
    define: { BUILD_VERSION: JSON.stringify(`v${version}`) },
    logLevel: "warning",
  };
}

/**
 * Lets proper-lockfile load when it is first used: it is needed only where `flock(2)` is out of reach, and its loading
 * takes a tenth of the program's start.
 */
const lazyLockfile: Plugin = {
  name: "lazy-lockfile",
  setup(build) {
    build.onLoad({ filter: /\/proper-lockfile\/index\.js$/ }, async ({ path }) => ({
      contents: onDemand(await readFile(path, "utf8"), ["lockSync"]),
    }));
  },
};

/**
 * Lets ipaddr.js load in a fraction of its time: its regular expressions, which it puts together from
 * strings, become literals that the engine compiles at build time; its tables of special ranges are
 * made when somebody asks for them. On Node.js all of it is for the first IPv6 address only; the native
 * executable has loaded it at build time. What it does stays the same.
 */
function lightIpaddr(engine: BundleOptions["engine"]): Plugin {
  return {
    name: "light-ipaddr",
    setup(build) {
      build.onLoad({ filter: /\/ipaddr\.js\/lib\/ipaddr\.js$/ }, async ({ path }) => {
        const source = lazyTables(literalExpressions(await readFile(path, "utf8")));
        return { contents: engine === "node" ? onDemand(source, ["IPv4", "IPv6"]) : source };
      });
    },
  };
}

/** Replaces each `new RegExp` of constant strings by the literal that it makes. */
function literalExpressions(source: string): string {
  const constants = source.match(/^ {4}const \w+ = '.*';$/gm)?.join("\n");
  return replaceSome(source, /new RegExp\((?:`.*`|zoneIndex), 'i'\)/g, (expression) =>
    String(new Function(`${constants}\nreturn ${expression};`)()),
  );
}

/** Makes the tables properties that are computed when they are read. */
function lazyTables(source: string): string {
  return replaceSome(
    source,
    /(IPv[46]\.prototype)\.SpecialRanges = (\{[\s\S]*?\n {8}\});/g,
    (_, prototype, table) =>
      `Object.defineProperty(${prototype}, 'SpecialRanges', { get: () => (${table}) });`,
  );
}

/** Runs the module when one of its exports is first used. */
function onDemand(source: string, names: readonly string[]): string {
  return `let loaded;
const load = () => {
  if (loaded === undefined) {
    const module = { exports: {} };
    (function () { ${source} }).call({});
    loaded = module.exports;
  }
  return loaded;
};
module.exports = { ${names.map((name) => `get ${name}() { return load().${name}; }`).join(", ")} };`;
}

/** Replaces what the pattern finds; a library that changed is an error, not a slower build. */
function replaceSome(
  source: string,
  pattern: RegExp,
  replacement: (...match: string[]) => string,
): string {
  const replaced = source.replace(pattern, replacement);
  if (replaced === source) throw new Error(`ipaddr.js changed: nothing in it matches ${pattern}.`);
  return replaced;
}
