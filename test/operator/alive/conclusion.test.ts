/** What is concluded from each kind of evidence, and what outweighs what. */

import { test } from "tap";
import { conclude, type Evidence } from "../../../src/operator/alive/conclusion.ts";

const nothing: Evidence = {
  namespaces: [],
  isLinked: false,
  isOfNode: false,
  recorded: undefined,
  named: [],
  stranger: undefined,
  cacheError: undefined,
  isItsOwn: true,
  isBeforeBoot: false,
  isJustReserved: false,
  candidate: undefined,
};
const ofProcess = { processId: 7, path: "/proc/7/ns/net" };
const mounted = { processId: undefined, path: "/run/netns/a" };
const gone = { kind: "gone", path: "/run/netns/a" } as const;
const unseen = { kind: "unseen", reason: "it cannot be seen" } as const;
const idle = { kind: "exists", path: "/run/netns/a", hasProcess: false } as const;
const busy = { ...idle, hasProcess: true };
const sandbox = {
  isPodSandbox: true,
  hasProcess: false,
  isUnread: false,
  reason: "its namespace",
};
const aliveByRecord = { ...sandbox, kind: "alive" } as const;
const goneByRecord = { ...sandbox, kind: "gone" } as const;
const unseenByRecord = { ...sandbox, kind: "unseen" } as const;
const candidate = "another namespace is not known";
const stranger = "process 7 runs in a namespace of nobody known";

/** What there is, and what is concluded from it. */
type Case = readonly [evidence: Partial<Evidence>, conclusion: string];

const cases: Readonly<Record<string, Case>> = {
  "no evidence, and all namespaces are known": [{}, "dead"],
  "one that may be its own": [{ candidate }, "unknown by view"],
  "a process, whatever else": [
    { namespaces: [ofProcess], named: [gone], isBeforeBoot: true },
    "alive by process",
  ],
  "a mount, whatever else": [
    { namespaces: [mounted], named: [gone], isBeforeBoot: true },
    "alive by mount",
  ],
  "a mount beside a process": [{ namespaces: [mounted, ofProcess] }, "alive by process"],
  "the node itself has it": [{ isOfNode: true, named: [gone] }, "alive by namespace"],
  "its own namespace without the address": [{ named: [idle] }, "alive by namespace"],
  "its own namespace, in which a process runs": [{ named: [idle, busy] }, "alive by process"],
  "one of two namespaces is gone": [{ named: [gone, idle] }, "alive by namespace"],
  "its namespace is gone": [{ named: [gone], candidate }, "dead"],
  "its namespace is gone from its path, and a process may run in it": [
    { named: [gone], stranger },
    "unknown by view",
  ],
  "one is gone, and another cannot be seen": [
    { named: [gone, unseen], candidate },
    "unknown by view",
  ],
  "the record of a namespace that exists": [
    { recorded: aliveByRecord, candidate },
    "alive by namespace",
  ],
  "the record of one that only a descriptor holds": [
    { recorded: { ...aliveByRecord, isOnlyOpen: true }, named: [gone] },
    "alive by descriptor",
  ],
  "the record of one in which a process runs": [
    { recorded: { ...aliveByRecord, hasProcess: true }, namespaces: [mounted] },
    "alive by process",
  ],
  "the record of a pod sandbox whose namespace is gone": [
    { recorded: goneByRecord, candidate },
    "dead",
  ],
  "the same, with an address that another namespace has": [
    { recorded: goneByRecord, namespaces: [mounted] },
    "alive by mount",
  ],
  "the record of another namespace that is gone: an address may be in use without a container": [
    { recorded: { ...goneByRecord, isPodSandbox: false } },
    "unknown by record",
  ],
  "the same, which libcni's cache names, too: it was a container's": [
    { recorded: { ...goneByRecord, isPodSandbox: false }, named: [gone], candidate },
    "dead",
  ],
  "the record of one that cannot be seen, although all that are seen are another's": [
    { recorded: unseenByRecord },
    "unknown by view",
  ],
  "the same, and libcni's cache names a path that is gone": [
    { recorded: unseenByRecord, named: [gone] },
    "unknown by view",
  ],
  "the record of one that cannot be seen, reserved for no pod: nobody may be asked about it": [
    { recorded: { ...unseenByRecord, isPodSandbox: false } },
    "unknown by record",
  ],
  "a record that cannot be read, although all namespaces are known, and a path is gone": [
    { recorded: { ...unseenByRecord, isPodSandbox: false, isUnread: true }, named: [gone] },
    "unknown by unread",
  ],
  "a record that cannot be read: no list decides either": [
    { recorded: { ...unseenByRecord, isUnread: true }, candidate },
    "unknown by unread",
  ],
  "one that is gone by the cache, of a container that is being started again under its id": [
    { named: [gone], isJustReserved: true, candidate },
    "unknown by view",
  ],
  "from before this boot": [{ isBeforeBoot: true, candidate }, "dead"],
  "a cache that cannot be read": [{ named: [gone], cacheError: "EIO" }, "unknown by unread"],
  "a cache that cannot be read, and a process": [
    { namespaces: [ofProcess], cacheError: "EIO" },
    "alive by process",
  ],
};

test("libcni's cache is not asked where the record decides, or the boot", async (t) => {
  for (const known of [
    { recorded: aliveByRecord },
    { recorded: goneByRecord },
    { isBeforeBoot: true },
  ]) {
    conclude({
      ...nothing,
      ...known,
      get named() {
        return t.fail("it is") as never;
      },
      get cacheError() {
        return t.fail("it is read") as never;
      },
    });
  }
});

for (const [what, [evidence, expected]] of Object.entries(cases)) {
  test(`${what}: ${expected}`, async (t) => {
    const found = conclude({ ...nothing, ...evidence });
    const by = "by" in found ? ` by ${found.by}` : "";
    t.equal(`${found.liveness}${by}`, expected);
    t.not(found.reason, "");
  });
}
