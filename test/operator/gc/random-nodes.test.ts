// test: native executable
/** As wrong-lists.test.ts, with real network namespaces: few nodes, each with some wrong lists and then right ones. */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import { extent } from "../../harness/extent.ts";
import { mountNamespace, processWith, skipOutsideHost } from "../../harness/network-namespaces.ts";
import { seed } from "../../harness/seed.ts";
import { nodeFor } from "../node.ts";

const HOUR = 3600;

/** What is left of a pod: a process, a mounted namespace of one that the runtime knows, or has lost, or nothing. */
const pod = fc.record({
  kind: fc.constantFrom("process", "mounted", "lost", "dead"),
  cache: fc.constantFrom("none", "old", "new"),
});

const nodes = fc.sample(
  fc.record({
    pods: fc.array(pod, { minLength: 3, maxLength: 6 }),
    cuts: fc.array(fc.nat(5), { minLength: 3, maxLength: 3 }),
  }),
  { seed, numRuns: extent === "short" ? 4 : 20 },
);

for (const [number, { pods, cuts }] of nodes.entries()) {
  const kinds = pods.map(({ kind }) => kind).join(", ");
  test(`node ${number + 1} (${kinds}): wrong lists release nobody's address who lives`, {
    skip: skipOutsideHost,
  }, async (t) => {
    const node = nodeFor(t);
    node.network("net", { subnet: "10.7.15.0/24" });
    const directory = join(node.root, "netns");
    mkdirSync(directory);
    const addressOf = (at: number): string => `10.7.15.${at + 2}`;
    for (const [at, { kind, cache }] of pods.entries()) {
      node.call("ADD", "net", `c${at}`);
      node.age(`net/${addressOf(at)}`, HOUR);
      const path = join(directory, `c${at}`);
      if (kind === "process") await processWith(t, `${addressOf(at)}/24`);
      else if (kind !== "dead") mountNamespace(t, path, `${addressOf(at)}/24`);
      const netns = cache === "new" && kind !== "process" ? { netns: path } : {};
      if (cache !== "none") node.remember("net", `c${at}`, "", netns);
    }
    const all = [...pods.keys()];
    const living = all.filter((at) => ["process", "mounted"].includes(pods[at]?.kind ?? ""));
    const left = () => all.filter((at) => existsSync(join(node.dataDir, "net", addressOf(at))));
    const run = (ids: readonly number[], ...words: readonly string[]) =>
      node.tool(["gc", "--live", "-", "--yes", "--force", ...words], {
        stdin: ids.map((at) => `c${at}\n`).join(""),
      });

    for (const cut of cuts) {
      const listed = living.slice(0, cut);
      if (living.some((at) => pods[at]?.kind === "process" && !listed.includes(at))) {
        run(listed, "--now");
      }
    }
    t.same(
      living.filter((at) => !left().includes(at)),
      [],
    );
    run(living, "--grace", "0s");
    const { stdout, stderr } = run(living, "--grace", "0s");
    const kept = all.filter((at) => pods[at]?.kind !== "dead");
    t.same(left(), kept, `what has a namespace is kept, no more: ${stdout}${stderr}`);
  });
}
