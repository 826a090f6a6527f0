// test: native executable, slow, makes namespaces, mounts
/**
 * The commands of each finding, pasted on a node where it applies, with the `bridge` plugin: the pod that lives there keeps its
 * address and its gateway, and the next pod gets another address.
 */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { kinds } from "../../../src/operator/check/finding.ts";
import type { Host } from "../../e2e/host.ts";
import { type Network, readNetwork } from "../../e2e/libcni.ts";
import { Pod } from "../../e2e/pod.ts";
import { scenario } from "../../e2e/scenario.ts";
import { executable } from "../../harness/executable.ts";
import { cacheEntry } from "../../harness/results-cache.ts";
import { runAsPrinted, tool } from "../../harness/tool.ts";
import { until } from "../../harness/until.ts";
import type { PrintedFinding } from "../node.ts";

const CONFIGURATIONS = "/etc/cni/net.d";
const NETWORK = "/var/lib/cni/networks/net";
const PATH = join(NETWORK, "10.219.9.2");
const RESULTS = "/var/lib/cni/results";
const HOUR = 3600;

/** The id of the pod's sandbox, as runtimes make them. */
const WEB = "4f1d6e0c8b7a".padEnd(64, "0");

/** A node with the network `net`, and one pod that lives, with 10.219.9.2. */
interface Node {
  readonly host: Host;
  readonly network: Network;
  readonly web: Pod;
}

function configure(ipam: object = {}, name = "net", file = `${name}.conflist`): Network {
  const ranges = [[{ subnet: "10.219.9.0/29" }]];
  const plugin = {
    type: "bridge",
    bridge: "cni0",
    isGateway: true,
    ipam: { type: "host-local", ranges, ...ipam },
  };
  const text = JSON.stringify({ cniVersion: "1.0.0", name, plugins: [plugin] });
  writeFileSync(join(CONFIGURATIONS, file), text);
  return readNetwork(text);
}

function remember({ containerId, netns }: Pod, address: string, network = "net"): void {
  const addresses = [`${address}/29`];
  const known = { netns, addresses, gateway: "10.219.9.1", pod: `default/${containerId}` };
  const { name, text } = cacheEntry(network, containerId, known);
  writeFileSync(join(RESULTS, name), text);
}

function makeNode(host: Host): Node {
  for (const path of [CONFIGURATIONS, "/var/lib/cni/networks", RESULTS]) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
  }
  execFileSync("sh", ["-c", "ip link delete cni0 2>/dev/null || true"]);
  const network = configure();
  const web = new Pod(WEB);
  host.runtime.add(network, web);
  remember(web, "10.219.9.2");
  return { host, network, web };
}

/** Writes the file of a reservation, an hour old. */
function reserve(name: string, content: string): void {
  const path = join(NETWORK, name);
  writeFileSync(path, content, { mode: 0o600 });
  age(name);
}

/** Writes the file of a reservation: while it is young, it is none that leaked. */
function reserveNow(name: string): void {
  writeFileSync(join(NETWORK, name), "other\r\neth0", { mode: 0o600 });
}

function exclude(): void {
  configure({ exclude: ["10.219.9.4"] });
  reserveNow("10.219.9.4");
}

function age(name: string): void {
  const time = Date.now() / 1000 - HOUR;
  utimesSync(join(NETWORK, name), time, time);
}

function findings(): readonly PrintedFinding[] {
  return JSON.parse(tool(["check", "--json"]).stdout).findings;
}

/** A pod that was, and whose address leaked. */
function leak({ host, network }: Node): void {
  const gone = new Pod("gone");
  host.runtime.add(network, gone);
  remember(gone, "10.219.9.3");
  gone.remove();
  age("10.219.9.3");
}

/** What becomes of a finding by its commands. */
interface Effect {
  readonly exitCode: 0 | 1;
  readonly isGone?: boolean;
}

/** The finding is gone. */
const MENDED: Effect = { exitCode: 0, isGone: true };

/** The command shows what there is. */
const SHOWN: Effect = { exitCode: 0 };

/** The command says what it would do, or why not. */
const ASKED: Effect = { exitCode: 1 };

/** What is wrong with a node, the finding, and what its commands do. */
const cases: readonly (readonly [
  what: string,
  code: keyof typeof kinds,
  spoil: (node: Node) => void,
  effect: Effect,
])[] = [
  ["one that leaked", "leaked-reservation", leak, ASKED],
  ["one that is lost", "live-without-reservation", () => rmSync(PATH), MENDED],
  ["all of them are lost", "live-without-reservation", loseNetwork, MENDED],
  ["an empty one", "empty-reservation", () => reserve("10.219.9.4", ""), MENDED],
  ["one of any user", "writable-by-others", () => chmodSync(PATH, 0o666), MENDED],
  [
    "another user's",
    "state-directory-unused",
    () => chownSync("/var/lib/cni/networks/.host-local", 65534, 65534),
    MENDED,
  ],
  ["one in no range", "out-of-range", () => reserveNow("10.219.10.1"), ASKED],
  [
    "a living pod in no range",
    "out-of-range",
    () => configure({ ranges: [[{ subnet: "10.219.9.0/29", rangeStart: "10.219.9.3" }]] }),
    SHOWN,
  ],
  ["one that no pod gets", "out-of-range", exclude, ASKED],
  ["a second one", "duplicate-owner", () => reserve("10.219.9.4", `${WEB}\r\neth0`), SHOWN],
  [
    "as many as there are addresses",
    "range-full",
    () => [3, 4, 5, 6].map((last) => reserve(`10.219.9.${last}`, `c${last}\r\neth0`)),
    ASKED,
  ],
  [
    "its file is gone",
    "unconfigured-network",
    () => rmSync(join(CONFIGURATIONS, "net.conflist")),
    SHOWN,
  ],
  ["it was renamed", "unconfigured-network", rename, SHOWN],
  [
    "its ipam.dataDir is another",
    "unconfigured-network",
    () => configure({ dataDir: "/var/lib/cni/moved" }),
    SHOWN,
  ],
  [
    "nobody may start it",
    "plugin-missing",
    () => chmodSync("/opt/cni/bin/host-local", 0o644),
    MENDED,
  ],
  ["it was removed", "plugin-replaced", removePlugin, ASKED],
];

function rename(): void {
  rmSync(join(CONFIGURATIONS, "net.conflist"));
  configure({}, "pods");
}

function loseNetwork(): void {
  rmSync(NETWORK, { recursive: true });
}

function removePlugin(): void {
  tool(["install", "/opt/cni/bin", "--yes"]);
  rmSync("/opt/cni/bin/host-local");
}

/**
 * Of these no command is printed, it only shows what there is or releases an address by `release`, which refuses to where a
 * container lives; those for bridges are pasted in more-addresses.test.ts and cut-off.test.ts.
 */
const others: readonly (keyof typeof kinds)[] = [
  ...(["unreadable-configuration", "no-networks", "interfaces-unread"] as const),
  ...(["unread-key", "shadowed-configuration"] as const),
  ...([
    "malformed-reservation",
    "unreadable-reservation",
    "leaks-unknown",
    "overlapping-ranges",
  ] as const),
  ...(["address-in-use-twice", "range-nearly-full", "sandbox-without-process"] as const),
  ...([
    "bridge-without-address",
    "bridge-address",
    "pods-cut-off",
    "broadcast-address",
    "node-address",
    "node-network",
  ] as const),
  ...(["calls-fail", "addresses-given-back", "add-fails", "add-unknown"] as const),
];

async function paste(
  t: Test,
  host: Host,
  [, code, spoil, { exitCode, isGone }]: (typeof cases)[number],
): Promise<void> {
  const node = makeNode(host);
  const { network, web } = node;
  spoil(node);
  let found: readonly PrintedFinding[] = [];
  const applies = (): boolean => {
    found = findings().filter((finding) => finding.code === code);
    return found.some(({ commands }) => commands.length > 0);
  };
  // The kernel takes the namespace of a pod down later.
  await until(`a finding ${code}`, applies, 10);
  const commands = found.flatMap(({ commands: own }) => own);
  t.not(commands.length, 0, "it has commands");
  const plugin = readFileSync(executable);
  for (const command of commands) {
    const outcome = runAsPrinted(t, command);
    t.comment(`${command}: ${outcome.exitCode} ${outcome.stdout}${outcome.stderr}`);
    t.equal(outcome.exitCode, exitCode, command);
  }

  t.ok(existsSync(web.netns), "the pod's namespace is there");
  t.ok(web.reaches("10.219.9.1"), "it has its gateway");
  t.equal(readFileSync(PATH, "utf8"), `${WEB}\r\neth0`);
  t.ok(plugin.equals(readFileSync(executable)));
  if (isGone) t.notOk(findings().some((finding) => finding.code === code));
  if (code === "range-full") return;
  const next = new Pod("next");
  const { ips = [] } = host.runtime.add(network, next);
  t.not(ips[0]?.address, "10.219.9.2/29");
  t.ok(next.reaches("10.219.9.1"));
}

scenario(
  "the advice of check, pasted",
  { plugins: ["bridge"], cniVersion: "1.0.0" },
  async (t, host) => {
    const known = [...cases.map(([, code]) => code), ...others];
    t.same(new Set(known), new Set(Object.keys(kinds)), "every code");
    for (const advice of cases) {
      await t.test(`${advice[1]}: ${advice[0]}`, async (t) => {
        t.teardown(() => {
          for (const id of [WEB, "next"])
            execFileSync("sh", ["-c", `ip netns delete ${id} 2>/dev/null || true`]);
        });
        await paste(t, host, advice);
      });
    }
  },
);
