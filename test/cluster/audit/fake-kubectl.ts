/**
 * A kubectl for tests: nodes are files of a directory, and it refuses what the API server refuses. Only the calls that
 * `audit` prints are understood. For YAML it prints JSON, which is YAML, too.
 *
 * It is a thread that answers over TCP, since a start of Node.js takes longer than all else in these tests. A request is the
 * directory, the words of the command line, and the standard input, separated by NUL, and byte 1 at its end. The answer is
 * the exit code in a line, and then what is printed.
 */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";

/** A node object, as far as it is looked at. */
interface NodeObject {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly spec: {
    readonly podCIDR?: string;
    readonly podCIDRs?: readonly string[];
    readonly unschedulable?: boolean;
  };
}

/** What is asked; one request is answered after the other. */
let directory = "";
let words: readonly string[] = [];
let input = "";

function fail(message: string): never {
  throw new Error(message);
}

function fileOf(name: string): string {
  return join(directory, `${name}.json`);
}

function read(name: string): NodeObject {
  if (!existsSync(fileOf(name))) fail(`nodes "${name}" not found`);
  return JSON.parse(readFileSync(fileOf(name), "utf8"));
}

function write(node: NodeObject): void {
  writeFileSync(fileOf(node.metadata.name), JSON.stringify(node));
}

/** The word after an option. */
function optionValue(option: string): string {
  return words[words.indexOf(option) + 1] ?? fail(`${option} is missing`);
}

function given(): NodeObject {
  return input === "" ? fail("no objects passed") : JSON.parse(input);
}

/** RFC 7396. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const merged = new Map(Object.entries(typeof target === "object" && target ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

/** The one template that `audit` prints. */
const podCidrs = String.raw`{range .items[*]}{.metadata.name} {.spec.podCIDRs[*]}{"\n"}{end}`;

function list(items: readonly NodeObject[]): string {
  const form = optionValue("-o");
  if (form === "json") return JSON.stringify({ apiVersion: "v1", kind: "List", items });
  if (form !== `jsonpath=${podCidrs}`) fail(form);
  return items
    .map(({ metadata, spec }) => `${metadata.name} ${(spec.podCIDRs ?? []).join(" ")}\n`)
    .join("");
}

function create(node: NodeObject): void {
  const { name, uid, resourceVersion } = node.metadata;
  if (resourceVersion !== undefined)
    fail("resourceVersion should not be set on objects to be created");
  if (uid !== undefined) fail(`uid mismatch: the provided object specified uid ${uid}`);
  if (existsSync(fileOf(name))) fail(`nodes "${name}" already exists`);
  const metadata = { ...node.metadata, uid: `new-${name}`, resourceVersion: "1" };
  write({ ...node, metadata });
}

function update(node: NodeObject, changed: NodeObject): void {
  const had = JSON.stringify(node.spec.podCIDRs ?? []);
  if (had !== "[]" && had !== JSON.stringify(changed.spec.podCIDRs)) {
    fail('spec: Forbidden: node updates may not change podCIDR except from "" to valid');
  }
  write(changed);
}

/** What is printed. */
function answer(): string {
  const [verb, kind, name = ""] = words;
  const patched = (node: NodeObject) =>
    mergePatch(node, JSON.parse(optionValue("-p"))) as NodeObject;
  const line = `${verb} ${kind}`;

  if (verb === "cordon" || verb === "uncordon") {
    const node = read(kind ?? "");
    write({ ...node, spec: { ...node.spec, unschedulable: verb === "cordon" } });
  } else if (line === "get nodes") {
    return list(readdirSync(directory).map((file) => read(file.replace(/\.json$/, ""))));
  } else if (line === "get node") {
    return JSON.stringify(read(name));
  } else if (line === "patch --local") {
    return JSON.stringify(patched(given()));
  } else if (line === "patch node") {
    update(read(name), patched(read(name)));
  } else if (verb === "drain") {
    if (read(kind ?? "").spec.unschedulable !== true) fail("it is not cordoned");
  } else if (line === "delete node") {
    if (!existsSync(fileOf(name)) && !words.includes("--ignore-not-found")) read(name);
    rmSync(fileOf(name), { force: true });
  } else if (verb === "create") {
    create(given());
  } else if (line !== "delete pods") {
    fail(`unknown command ${words.join(" ")}`);
  }
  return "";
}

const server = createServer((socket) => {
  let request = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    request += part;
    if (!request.endsWith("\u0001")) return;
    const parts = request.slice(0, -1).split("\0");
    [directory = ""] = parts;
    words = parts.slice(1, -1);
    input = parts.at(-1) ?? "";
    try {
      socket.end(`0\n${answer()}`);
    } catch (error) {
      socket.end(`1\nerror: ${error instanceof Error ? error.message : error}\n`);
    }
  });
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage(server.address()));
