/** Which networks the files of a configuration directory are, by the rules of libcni 1.3 and nerdctl 2. */

import { test } from "tap";
import type { JsonObject } from "../../../../src/cni/json.ts";
import { ResultsCache } from "../../../../src/operator/node/cache/results-cache.ts";
import { findNetworks } from "../../../../src/operator/node/networks.ts";
import { type Interrupt, refuse } from "../../../harness/interruption.ts";
import { contextOf, memoryNode, places, startOperator } from "../../memory-node.ts";

/** A plugin whose IPAM is this one. */
function bridge(subnet = "10.0.0.0/29", rest: JsonObject = {}): JsonObject {
  return { type: "bridge", ...rest, ipam: { type: "host-local", subnet } };
}

const portmap = { type: "portmap" };

/** The networks of a directory with these files, as `NAME FILE RANGES`, and what is wrong with them. */
function found(
  files: Readonly<Record<string, JsonObject | string>>,
  interrupt?: Interrupt,
): {
  readonly networks: readonly string[];
  readonly problems: readonly string[];
} {
  const machine = memoryNode({});
  for (const [name, content] of Object.entries(files)) {
    const path = `/conf/${name}`;
    machine.disk.makeDirectories(path.slice(0, path.lastIndexOf("/")));
    machine.disk.put(path, typeof content === "string" ? content : JSON.stringify(content));
  }
  const context = contextOf(startOperator(machine, interrupt).system, places);
  const all = findNetworks(context, new ResultsCache(context), undefined);
  const short = (path: string): string => path.replaceAll("/conf/", "");
  return {
    networks: all.found.flatMap(({ files: { network }, source, rangeSets }) =>
      source === undefined ? [] : `${network} ${short(source)} ${rangeSets.length}`,
    ),
    problems: all.problems.map(({ source, problem }) => `${short(source)}: ${short(problem)}`),
  };
}

test("libcni appends the plugins of a directory with the list's name", async (t) => {
  t.strictSame(
    found({
      "10-a.conflist": { cniVersion: "1.1.0", name: "net" },
      "net/20-b.conf": bridge("10.0.0.0/29", { name: "other", cniVersion: "0.1.0" }),
      "net/30-c.conf": portmap,
      "net/40-d.json": bridge("10.2.0.0/29"),
    }),
    { networks: ["net net/20-b.conf 1"], problems: [] },
  );
  t.strictSame(
    found({
      "10-a.conflist": { cniVersion: "1.0.0", name: "net", plugins: [portmap] },
      "net/20-b.conf": bridge(),
    }).networks,
    ["net net/20-b.conf 1"],
  );
});

test("not to a list that loads only its own, and not to a plugin alone", async (t) => {
  for (const loadOnlyInlinedPlugins of [true, "True"]) {
    t.strictSame(
      found({
        "a.conflist": { name: "net", loadOnlyInlinedPlugins, plugins: [bridge()] },
        "net/b.conf": bridge("10.2.0.0/29"),
      }),
      { networks: ["net a.conflist 1"], problems: [] },
    );
  }
  t.strictSame(
    found({ "a.conf": { name: "net", ...bridge() }, "net/b.conf": bridge("10.2.0.0/29") }),
    {
      networks: ["net a.conf 1"],
      problems: [],
    },
  );
});

test("an invalid plugin in that directory is one of the whole list", async (t) => {
  const list = { name: "net", plugins: [bridge()] };
  t.match(found({ "a.conflist": list, "net/b.conf": "{" }), {
    networks: ["net a.conflist 1"],
    problems: [/^a\.conflist: no runtime can use it: a plugin of net\/\*\.conf: invalid JSON/],
  });
  t.strictSame(found({ "a.conflist": list, "net/b.conf": {} }).problems, [
    "a.conflist: no runtime can use it: net/b.conf: no type, which names the plugin",
  ]);
  t.match(found({ "a.conflist": list, net: "" }).problems, [/not a directory$/]);
});

test("nerdctl has the lists of a namespace in a directory of its name", async (t) => {
  const list = (name: string, subnet: string) => ({ name, plugins: [bridge(subnet)] });
  t.strictSame(
    found({
      "nerdctl-bridge.conflist": list("bridge", "10.4.0.0/24"),
      "default/nerdctl-app.conflist": list("app", "10.4.1.0/24"),
      "k8s.io/nerdctl-db.conflist": list("db", "10.4.2.0/24"),
      "old/app.conflist.bak": list("old", "10.4.3.0/24"),
    }),
    {
      networks: [
        "app default/nerdctl-app.conflist 1",
        "bridge nerdctl-bridge.conflist 1",
        "db k8s.io/nerdctl-db.conflist 1",
      ],
      problems: [],
    },
  );
});

test("BuildKit's copy of the plugin is this plugin", async (t) => {
  const ipam = { type: "buildkit-cni-host-local", subnet: "10.10.0.0/16" };
  const plugins = [{ type: "buildkit-cni-bridge", isDefaultGateway: true, ipam }];
  t.strictSame(found({ "a.conflist": { name: "buildkit", plugins } }).networks, [
    "buildkit a.conflist 1",
  ]);
});

test("of several versions the highest that is known counts, cniVersion included", async (t) => {
  for (const [versions, problems] of [
    [{ cniVersions: ["0.4.0", "9.0.0"], cniVersion: "1.1.0" }, []],
    [{ cniVersions: ["9.0.0"], cniVersion: "1.0.0" }, []],
    [{ cniVersions: ["1.0.0"], cniVersion: "9.0.0" }, []],
  ] as const) {
    t.strictSame(found({ "a.conflist": { name: "net", ...versions, plugins: [bridge()] } }), {
      networks: ["net a.conflist 1"],
      problems,
    });
  }
});

/** Files that no runtime can use, and why. */
const unusable: Readonly<Record<string, readonly [file: string, JsonObject, problem: string]>> = {
  "a list in a .conf": [
    "a.conf",
    { name: "net", plugins: [bridge()] },
    "no type, which names the plugin; a list of plugins belongs in a file with .conflist",
  ],
  "a list in a .json": [
    "a.json",
    { name: "net", plugins: [bridge()] },
    "no type, which names the plugin; a list of plugins belongs in a file with .conflist",
  ],
  "a plugin in a .conflist": [
    "a.conflist",
    { name: "net", ...bridge() },
    "no plugins, and none in net/*.conf",
  ],
  "a list without plugins of its own that loads no others": [
    "a.conflist",
    { name: "net", loadOnlyInlinedPlugins: true, ...bridge() },
    "no plugins, and loadOnlyInlinedPlugins leaves out all others",
  ],
  "a plugin of a list without a type": [
    "a.conflist",
    { name: "net", plugins: [bridge(), {}] },
    "no type, which names the plugin",
  ],
  "disableCheck with another word": [
    "a.conflist",
    { name: "net", disableCheck: "yes", plugins: [bridge()] },
    'expected true or false at disableCheck, found "yes"',
  ],
  "disableGC with a number": [
    "a.conflist",
    { name: "net", disableGC: 1, plugins: [bridge()] },
    "expected true or false at disableGC, found 1",
  ],
  "a version that is no text": [
    "a.conflist",
    { name: "net", cniVersion: 1, plugins: [bridge()] },
    "expected a text at cniVersion, found 1",
  ],
  "a version among several that is none": [
    "a.conflist",
    { name: "net", cniVersions: ["1.0.0", "new"], plugins: [bridge()] },
    'expected a version such as 1.1.0 at cniVersions, found "new"',
  ],
  "a capability that is neither true nor false": [
    "a.conf",
    { name: "net", ...bridge("10.0.0.0/29", { capabilities: { ips: "yes" } }) },
    "a value in capabilities is not true or false",
  ],
  "versions that are no list": [
    "a.conflist",
    { name: "net", cniVersions: "1.0.0", plugins: [bridge()] },
    'expected a list of texts at cniVersions, found "1.0.0"',
  ],
};

for (const [what, [file, document, problem]] of Object.entries(unusable)) {
  test(`${what}: its network is known, and that no runtime can use the file`, async (t) => {
    t.strictSame(found({ [file]: document }), {
      networks: [`net ${file} 1`],
      problems: [`${file}: no runtime can use it: ${problem}`],
    });
  });
}

test("libcni compares versions only where there are several", async (t) => {
  const list = { name: "net", cniVersion: "new", plugins: [bridge()] };
  t.match(found({ "a.conflist": list }).problems, [/^a\.conflist: incompatible CNI versions/]);
});

test("words for true and false are as good as these, and unusable files of other plugins are not told", async (t) => {
  const list = { name: "net", disableCheck: "TRUE", disableGC: "false", plugins: [bridge()] };
  t.strictSame(
    found({ "a.conflist": list, "b.conf": { name: "b", plugins: [{ type: "ptp" }] } }).problems,
    [],
  );
});

const NO_RANGES = /^a\.conf: no IP ranges specified, so that every ADD fails; /;

test("a main plugin that passes ipam on needs ranges", async (t) => {
  const host = { type: "host-local" };
  for (const type of ["bridge", "ptp", "host-local"]) {
    const document = { cniVersion: "1.1.0", name: "net", type, ipam: host };
    t.match(found({ "a.conf": document }), { networks: ["net a.conf 0"], problems: [NO_RANGES] });
    for (const supplied of [{ capabilities: { ipRanges: true } }, { gcOnly: true }]) {
      t.strictSame(found({ "a.conf": { ...document, ...supplied } }).problems, []);
    }
  }
  t.strictSame(
    found({ "a.conf": { name: "net", type: "antrea", ipam: host } }),
    { networks: ["net a.conf 0"], problems: [] },
    "another one may add them",
  );
});

test("the type of a plugin may be written in any letter case, as libcni reads it", async (t) => {
  const { type, ...rest } = bridge();
  t.strictSame(found({ "a.conf": { name: "net", Type: type ?? "", ...rest } }).problems, []);
});

test("a directory of a namespace that the disk does not show is a problem, one of another user is none", async (t) => {
  const files = { "default/nerdctl-app.conflist": { name: "app", plugins: [bridge()] } };
  const withError = (code: string) => found(files, refuse("list", code, "/conf/default"));
  t.match(withError("EIO"), {
    networks: [],
    problems: ["default: open default: input/output error"],
  });
  t.same(withError("EACCES"), { networks: [], problems: [] });
});
