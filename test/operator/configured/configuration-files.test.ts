/** Which networks the files of a configuration directory are, by the rules of libcni 1.3 and nerdctl 2. */

import { test } from "tap";
import type { JsonObject } from "../../../src/cni/json.ts";
import { ResultsCache } from "../../../src/operator/alive/cache/results-cache.ts";
import { findNetworks } from "../../../src/operator/configured/networks.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import { contextOf, memoryNode, places, startOperator } from "../memory-node.ts";

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
    machine.disk.put(
      `/conf/${name}`,
      typeof content === "string" ? content : JSON.stringify(content),
    );
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

test("a network is found in a plugin of a list behind an entry for GC that has no ranges", async (t) => {
  const forGc = { type: "host-local", gcOnly: true, ipam: { type: "host-local" } };
  t.strictSame(found({ "a.conflist": { name: "net", plugins: [forGc, bridge()] } }), {
    networks: ["net a.conflist 1"],
    problems: [],
  });
});

test("other IPAM plugins, other files and directories are passed over", async (t) => {
  t.strictSame(
    found({
      "a.conf": { name: "a", type: "bridge", ipam: { type: "dhcp" } },
      "b.conf": { name: "b", type: "flannel", ipam: { type: "whereabouts" } },
      "c.conflist.bak": { name: "c", plugins: [bridge()] },
      "d.yaml": "a: b",
      "e.conf/file": "",
    }),
    { networks: [], problems: [] },
  );
});

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
    "a.conflist: no runtime can use it: a plugin of net/*.conf: b.conf: no type, which names the plugin",
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

test("a file with Calico's usePodCidr for another plugin is a problem, and hides no other", async (t) => {
  const files = {
    "a.conf": { name: "net", ...bridge("usePodCidr") },
    "b.conf": { name: "other", ...bridge() },
  };
  t.strictSame(found(files), {
    networks: ["net a.conf 0", "other b.conf 1"],
    problems: [
      'a.conf: invalid CIDR address: usePodCidr; expected a network such as "10.1.2.0/24" at ipam.subnet',
    ],
  });
});

/** Files that no runtime can use, and why. */
const unusable: Readonly<Record<string, readonly [file: string, JsonObject, problem: string]>> = {
  "a list in a .conf": [
    "a.conf",
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
  "disableCheck with another word": [
    "a.conflist",
    { name: "net", disableCheck: "yes", plugins: [bridge()] },
    'expected true or false at disableCheck, found "yes"',
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
    'expected true or false at capabilities.ips, found "yes"',
  ],
  "a version of a plugin alone that is no text": [
    "a.conf",
    { name: "net", cniVersion: 1, ...bridge() },
    "expected a text at cniVersion, found 1",
  ],
  "dns of a plugin of a list, in another letter case": [
    "a.conflist",
    { name: "net", plugins: [portmap, bridge("10.0.0.0/29", { DNS: { Search: "a.b" } })] },
    'expected a list at plugins[1].dns.search, found "a.b"',
  ],
  "versions that are no list": [
    "a.conflist",
    { name: "net", cniVersions: "1.0.0", plugins: [bridge()] },
    'expected a list at cniVersions, found "1.0.0"',
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

test("a list without a name is none, whatever its plugins call themselves", async (t) => {
  const plugins = [bridge("10.0.0.0/29", { name: "inner", cniVersion: "1.0.0" })];
  const names: readonly (readonly [JsonObject, string])[] = [
    [{ plugins }, "missing network name"],
    [{ Name: "net", plugins }, "missing network name"],
  ];
  for (const [document, problem] of names) {
    t.strictSame(found({ "a.conflist": document }), {
      networks: [],
      problems: [`a.conflist: ${problem}`],
    });
  }
});

test("null is as good as absent to libcni", async (t) => {
  const absent = { dns: null, capabilities: null, prevResult: null, cniVersion: null };
  t.strictSame(found({ "a.conf": { name: "net", ...bridge("10.0.0.0/29", absent) } }).problems, []);
});

test("libcni compares versions only where there are several", async (t) => {
  const list = { name: "net", cniVersion: "new", plugins: [bridge()] };
  t.match(found({ "a.conflist": list }).problems, [/^a\.conflist: incompatible CNI versions/]);
});

test("words for true and false are accepted; unusable files of other plugins are not reported", async (t) => {
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

/** Plugins as Go reads them: in any letter case. */
const spellings: Readonly<Record<string, JsonObject>> = {
  IPAM: { name: "net", type: "bridge", IPAM: { type: "host-local", subnet: "10.0.0.0/29" } },
  Type: { name: "net", Type: "bridge", ipam: { type: "host-local", subnet: "10.0.0.0/29" } },
  "ipam.Type": { name: "net", type: "bridge", ipam: { Type: "host-local", Subnet: "10.0.0.0/29" } },
  "Delegates of multus": {
    name: "multus",
    type: "multus",
    Delegates: [{ Name: "net", ...bridge() }],
  },
};

for (const [key, document] of Object.entries(spellings)) {
  test(`${key} is as good as in the usual letters`, async (t) => {
    t.strictSame(found({ "a.conf": document }), { networks: ["net a.conf 1"], problems: [] });
  });
}

test("what is nested as deep as Go's decoder reads it hides no network", async (t) => {
  const deep = `{"a":${"[".repeat(9_000)}${"]".repeat(9_000)},`;
  const files = { "a.conf": JSON.stringify({ name: "net", ...bridge() }).replace("{", deep) };
  t.strictSame(found(files), { networks: ["net a.conf 1"], problems: [] });
});

test("a namespace's directory that the disk does not show is a problem, another user's is none", async (t) => {
  const files = { "default/nerdctl-app.conflist": { name: "app", plugins: [bridge()] } };
  const withError = (code: string) => found(files, refuse("list", code, "/conf/default"));
  t.same(withError("EIO"), {
    networks: [],
    problems: ["default: open default: input/output error"],
  });
  t.same(withError("EACCES"), { networks: [], problems: [] });
});

test("a link to itself is a problem once where it is named like a configuration, and else none", async (t) => {
  const refused = (name: string): Interrupt => refuse("list", "ELOOP", `/conf/${name}`);
  t.strictSame(found({ loop: "" }, refused("loop")).problems, []);
  const machine = memoryNode({});
  machine.disk.putLink("/conf/a.conflist", "a.conflist");
  machine.disk.putLink("/conf/b", "b");
  const context = contextOf(startOperator(machine).system, places);
  const { problems } = findNetworks(context, new ResultsCache(context), undefined);
  t.strictSame(
    problems.map(({ source }) => source),
    ["/conf/a.conflist"],
  );
});
