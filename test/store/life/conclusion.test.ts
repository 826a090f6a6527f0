/** What is concluded from each kind of evidence, and what outweighs what. */

import { test } from "tap";
import { BEFORE_BOOT, conclude, type Evidence } from "../../../src/store/life/conclusion.ts";

const nothing: Evidence = {
  namespaces: [],
  isLinked: false,
  isOfNode: false,
  fate: undefined,
  isRunning: false,
  isOnlyOpen: false,
  named: [],
  stranger: undefined,
  cacheError: undefined,
  isItsOwn: true,
  isJustReserved: false,
  candidate: undefined,
};
const ofProcess = { processId: 7, path: "/proc/7/ns/net" };
const mounted = { processId: undefined, path: "/run/netns/a" };
const gone = { kind: "gone", path: "/run/netns/a" } as const;
const unseen = { kind: "unseen", reason: "it cannot be seen" } as const;
const idle = { kind: "exists", path: "/run/netns/a", hasProcess: false } as const;
const busy = { ...idle, hasProcess: true };
const reason = "its namespace";
const living = { kind: "alive", namespace: "net:[70]", hasLeft: false, reason } as const;
const deadByRecord = { kind: "dead", by: "record", reason } as const;
const hidden = { kind: "unseen", isPodSandbox: true, reason } as const;
const ofNoPod = { kind: "gone", reason } as const;
const unread = { kind: "unread", reason } as const;
const candidate = "another namespace is not known";
const stranger = "process 7 runs in a namespace of nobody known";

/** What there is, and what is concluded from it. */
type Case = readonly [evidence: Partial<Evidence>, conclusion: string];

const cases: Readonly<Record<string, Case>> = {
  "no evidence, and all namespaces are known": [{}, "dead by namespaces"],
  "one that may be its own": [{ candidate }, "unknown by view"],
  "a process, whatever else": [
    { namespaces: [ofProcess], named: [gone], fate: BEFORE_BOOT },
    "alive by process",
  ],
  "a mount, whatever else": [
    { namespaces: [mounted], named: [gone], fate: BEFORE_BOOT },
    "alive by idle",
  ],
  "a mount beside a process": [{ namespaces: [mounted, ofProcess] }, "alive by process"],
  "the node itself has it": [{ isOfNode: true, named: [gone] }, "alive by address"],
  "its own namespace without the address": [{ named: [idle] }, "alive by namespace"],
  "its own namespace, in which a process runs": [{ named: [idle, busy] }, "alive by process"],
  "one of two namespaces is gone": [{ named: [gone, idle] }, "alive by namespace"],
  "its namespace is gone": [{ named: [gone], candidate }, "dead by cache"],
  "its namespace is gone from its path, and a process may run in it": [
    { named: [gone], stranger },
    "unknown by view",
  ],
  "one is gone, and another cannot be seen": [
    { named: [gone, unseen], candidate },
    "unknown by view",
  ],
  "the record of a namespace that exists": [{ fate: living, candidate }, "alive by namespace"],
  "the record of one that only a descriptor holds": [
    { fate: living, isOnlyOpen: true, named: [gone] },
    "alive by idle",
  ],
  "the record of one in which a process runs": [
    { fate: living, isRunning: true, namespaces: [mounted] },
    "alive by process",
  ],
  "the record of a pod sandbox whose namespace is gone": [
    { fate: deadByRecord, candidate },
    "dead by record",
  ],
  "the same, with an address that another namespace has": [
    { fate: deadByRecord, namespaces: [mounted] },
    "alive by idle",
  ],
  "the record of another namespace that is gone: an address may be in use without a container": [
    { fate: ofNoPod },
    "unknown by record",
  ],
  "the same, which libcni's cache names, too: it was a container's": [
    { fate: ofNoPod, named: [gone], candidate },
    "dead by cache",
  ],
  "the record of one that cannot be seen, although all that are seen are another's": [
    { fate: hidden },
    "unknown by view",
  ],
  "the same, and libcni's cache names a path that is gone": [
    { fate: hidden, named: [gone] },
    "unknown by view",
  ],
  "the record of one that cannot be seen, reserved for no pod: nobody may be asked about it": [
    { fate: { ...hidden, isPodSandbox: false } },
    "unknown by record",
  ],
  "a record that cannot be read, although all namespaces are known, and a path is gone": [
    { fate: unread, named: [gone] },
    "unknown by unread",
  ],
  "a record that cannot be read: no list decides either": [
    { fate: unread, candidate },
    "unknown by unread",
  ],
  "one that is gone by the cache, of a container that is being started again under its id": [
    { named: [gone], isJustReserved: true, candidate },
    "unknown by view",
  ],
  "from before this boot": [{ fate: BEFORE_BOOT, candidate }, "dead by boot"],
  "a cache that cannot be read": [{ named: [gone], cacheError: "EIO" }, "unknown by unread"],
  "a cache that cannot be read, and a process": [
    { namespaces: [ofProcess], cacheError: "EIO" },
    "alive by process",
  ],
};

test("libcni's cache is not asked where the journal decides", async (t) => {
  for (const known of [{ fate: living }, { fate: deadByRecord }, { fate: BEFORE_BOOT }]) {
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
    t.equal(`${found.liveness} by ${found.by}`, expected);
    t.not(found.reason, "");
  });
}
