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

/** Configurations in which this IPAM is used for one network; without a file it is a list. */
const forms: Readonly<Record<string, readonly [document: JsonObject, file?: string]>> = {
  "a plugin of a list that calls itself something else": [
    { name: "net", plugins: [bridge("10.0.0.0/29", { name: "other" }), portmap] },
  ],
  "a plugin of a list with an entry for GC": [
    { name: "net", plugins: [bridge(), bridge("10.0.0.0/29", { gcOnly: true })] },
  ],
  "a plugin of a list behind an entry for GC that has no ranges": [
    {
      name: "net",
      plugins: [{ type: "host-local", gcOnly: true, ipam: { type: "host-local" } }, bridge()],
    },
  ],
  "a delegate of a delegate": [
    {
      name: "net",
      type: "meta",
      delegate: { type: "meta", delegates: [{ type: "meta", delegate: bridge() }] },
    },
    "a.conf",
  ],
  "a plugin that calls BuildKit's copy of this one": [
    {
      name: "net",
      plugins: [{ type: "ptp", ipam: { type: "buildkit-cni-host-local", subnet: "10.10.0.0/16" } }],
    },
  ],
};

for (const [form, [document, file = "a.conflist"]] of Object.entries(forms)) {
  test(`a network is found in ${form}`, async (t) => {
    t.strictSame(found({ [file]: document }), { networks: [`net ${file} 1`], problems: [] });
  });
}

test("ranges may be in a file of the node", async (t) => {
  const ipam = { type: "host-local", rangesFile: "/conf/ranges" };
  t.strictSame(
    found({
      "a.conf": { name: "net", type: "bridge", ipam },
      ranges: '{ "net": [[{ "subnet": "10.0.0.0/29" }]] }',
    }),
    { networks: ["net a.conf 1"], problems: [] },
  );
});

test("a file of ranges that is invalid is a problem once, however many plugins of a list name it", async (t) => {
  const ipam = { type: "host-local", rangesFile: "/conf/ranges" };
  const plugins = [
    { type: "bridge", ipam },
    { type: "host-local", gcOnly: true, ipam },
  ];
  const { problems } = found({ "a.conflist": { name: "net", plugins }, ranges: "{" });
  t.match(problems, [/^a\.conflist: invalid rangesFile ranges: line 1, column 2: unexpected end/]);
  t.equal(problems.length, 1);
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

/** Files that configure no network as they are, or not its ranges, and what is wrong. */
const wrong: Readonly<
  Record<string, readonly [content: JsonObject | string, problem: string, network?: string]>
> = {
  "that is not JSON": [
    '{"name": "net"',
    "invalid JSON at line 1, column 15: unexpected end of JSON input",
  ],
  "that is empty": ["", "invalid JSON at line 1, column 1: unexpected end of JSON input"],
  "that is a template": [
    '{"name": "net", "ipam": {"subnet": {{.PodCIDR}}}}',
    "invalid JSON at line 1, column 37: invalid character '{' looking for beginning of object key string; it may be a template that the runtime fills in",
  ],
  "that has no name": [bridge(), "missing network name"],
  "with a name that no directory can have": [
    { name: "a/b", ...bridge() },
    "invalid characters found in network name; a/b",
  ],
  "of an unknown version": [
    { name: "net", cniVersion: "9.0.0", ...bridge() },
    'incompatible CNI versions; config is "9.0.0", plugin supports ["0.1.0" "0.2.0" "0.3.0" "0.3.1" "0.4.0" "1.0.0" "1.1.0"]',
  ],
  "whose ranges are wrong": [
    { name: "net", ...bridge("10.0.0.1/29") },
    "invalid range set 0: Network has host bits set. For a subnet mask of length 29 the network address is 10.0.0.0; found 10.0.0.1/29 at ipam.subnet",
    "net a.conf 0",
  ],
  "that asks for the podCIDR by a word of Calico's, which another plugin does not know": [
    { name: "net", ...bridge("usePodCidr") },
    'invalid CIDR address: usePodCidr; expected a network such as "10.1.2.0/24" at ipam.subnet',
    "net a.conf 0",
  ],
  "whose file of ranges is missing": [
    { name: "net", type: "bridge", ipam: { type: "host-local", rangesFile: "/no/ranges.json" } },
    "cannot read rangesFile: open /no/ranges.json: no such file or directory; expected a JSON object of range sets by network name, or flannel's subnet.env, at the path in ipam.rangesFile",
    "net a.conf 0",
  ],
};

for (const [what, [content, problem, network]] of Object.entries(wrong)) {
  test(`a file ${what} is a problem, and hides no other`, async (t) => {
    t.strictSame(found({ "a.conf": content, "b.conf": { name: "other", ...bridge() } }), {
      networks: [...(network === undefined ? [] : [network]), "other b.conf 1"],
      problems: [`a.conf: ${problem}`],
    });
  });
}

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
  "dns that is a text": [
    "a.conf",
    { name: "net", ...bridge("10.0.0.0/29", { dns: "10.0.0.1" }) },
    'expected an object at dns, found "10.0.0.1"',
  ],
  "dns of a plugin of a list, in another letter case": [
    "a.conflist",
    { name: "net", plugins: [portmap, bridge("10.0.0.0/29", { DNS: { Search: "a.b" } })] },
    'expected a list at plugins[1].dns.search, found "a.b"',
  ],
  "a plugin of a list that has a number for its name": [
    "a.conflist",
    { name: "net", plugins: [bridge("10.0.0.0/29", { name: 1 })] },
    "expected a text at plugins[0].name, found 1",
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

test("of ipam that libcni cannot read it is told, though the plugin is nowhere where it belongs", async (t) => {
  const ipam = [{ type: "host-local", subnet: "10.0.0.0/29" }];
  const why = "no runtime can use it: expected an object at";
  for (const [file, document, problem] of [
    ["a.conf", { name: "net", type: "bridge", ipam }, `${why} ipam, found a list`],
    [
      "a.conflist",
      { name: "net", plugins: [{ type: "bridge", ipam }] },
      `${why} plugins[0].ipam, found a list`,
    ],
  ] as const) {
    t.strictSame(found({ [file]: document }), { networks: [], problems: [`${file}: ${problem}`] });
  }
});

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
  Name: { Name: "net", ...bridge() },
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

test("the keys of a plugin of a list, too, but not those of the list", async (t) => {
  const plugin = {
    Type: "bridge",
    Ipam: { TYPE: "host-local", RANGES: [[{ SUBNET: "10.0.0.0/29" }]] },
  };
  t.strictSame(found({ "a.conflist": { name: "net", plugins: [plugin] } }), {
    networks: ["net a.conflist 1"],
    problems: [],
  });
  t.match(found({ "a.conflist": { name: "net", Plugins: [plugin] } }).problems, [/: no plugins/]);
});

test("the version, too", async (t) => {
  const document = { CNIVersion: "9.0.0", name: "net", ...bridge() };
  t.match(found({ "a.conf": document }).problems, [/incompatible CNI versions/]);
});

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
