/** The evidence of life, and the doubts, that outweigh evidence of death. */

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
const reason = "its namespace";
const living = { kind: "alive", namespace: "net:[70]", hasLeft: false, reason } as const;
const hidden = { kind: "unseen", isPodSandbox: true, reason } as const;
const ofNoPod = { kind: "gone", reason } as const;
const unread = { kind: "unread", reason } as const;
const candidate = "another namespace is not known";
const stranger = "process 7 runs in a namespace of nobody known";

/** What there is, and what is concluded from it. */
type Case = readonly [evidence: Partial<Evidence>, conclusion: string];

const cases: Readonly<Record<string, Case>> = {
  "a process, whatever else": [
    { namespaces: [ofProcess], named: [gone], fate: BEFORE_BOOT },
    "alive by process",
  ],
  "a mount, whatever else": [
    { namespaces: [mounted], named: [gone], fate: BEFORE_BOOT },
    "alive by idle",
  ],
  "the node itself has it": [{ isOfNode: true, named: [gone] }, "alive by address"],
  "its namespace is gone from its path, and a process may run in it": [
    { named: [gone], stranger },
    "unknown by view",
  ],
  "one is gone, and another cannot be seen": [
    { named: [gone, unseen], candidate },
    "unknown by view",
  ],
  "the record of a namespace that exists": [{ fate: living, candidate }, "alive by namespace"],
  "the record of one in which a process runs": [
    { fate: living, isRunning: true, namespaces: [mounted] },
    "alive by process",
  ],
  "the record of another namespace that is gone: an address may be in use without a container": [
    { fate: ofNoPod },
    "unknown by record",
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
};

for (const [what, [evidence, expected]] of Object.entries(cases)) {
  test(`${what}: ${expected}`, async (t) => {
    const found = conclude({ ...nothing, ...evidence });
    t.equal(`${found.liveness} by ${found.by}`, expected);
    t.not(found.reason, "");
  });
}
