/** Keys that nothing reads, and that are nearly one that is read, or in the wrong place. */

import { test } from "tap";
import { isObject, type Json, type JsonObject } from "../../../src/cni/json.ts";
import { goKeys, ownKeys } from "../../../src/ipam/config.ts";
import { unreadKeys } from "../../../src/operator/configured/unread-keys.ts";
import { exampleFiles, loadExample, readExample } from "../../e2e/example.ts";

const subnet = "10.0.0.0/24";

/** What is said of a plugin at a path of a file, which is not that of its list. */
function unreadInPlugin(document: JsonObject, path = ""): readonly string[] {
  return unreadKeys({ ...inFile({}, "/conf/a.conf"), document, path });
}

/** What is said of a list, by a plugin of which there is nothing to say. */
function unreadInList(document: Json): readonly string[] {
  return unreadKeys({ ...inFile(document, "/conf/a.conflist"), document: {}, path: "plugins[0]" });
}

function inFile(document: Json, source: string) {
  const about = { source, directory: "/conf", network: "net", isNamespaced: false };
  const rest = { callsOthers: false, refusal: undefined, appended: [] };
  return { source, file: { ...about, ...rest, document, isList: source.endsWith("list") } };
}

/** What is said of these members of `ipam`. */
function unreadIn(ipam: JsonObject, rest: JsonObject = {}): readonly string[] {
  return unreadInPlugin({ type: "bridge", ...rest, ipam: { type: "host-local", ...ipam } });
}

test("excludes in ipam is probably exclude", async (t) => {
  t.strictSame(unreadIn({ subnet, excludes: "x" }), [
    "nothing reads ipam.excludes; did you mean ipam.exclude?",
  ]);
});

const misplaced: readonly (readonly [ipam: JsonObject, message: string, rest?: JsonObject])[] = [
  [
    { ranges: [[{ subnet }]], gateway: "10.0.0.9" },
    "ipam.gateway; did you mean ipam.ranges[0][0].gateway?",
  ],
  [{ subnet }, "exclude; did you mean ipam.exclude?", { exclude: ["10.0.0.9"] }],
  [{ subnet, gcOnly: true }, "ipam.gcOnly; did you mean gcOnly?"],
];

for (const [ipam, message, rest] of misplaced) {
  test(`of a key in the wrong place is said: nothing reads ${message}`, async (t) => {
    t.strictSame(unreadIn(ipam, rest), [`nothing reads ${message}`]);
  });
}

test("nothing is said of what is read, in any letter case, or of keys of others", async (t) => {
  const read = [...goKeys, ...ownKeys].map((key) => [key.toUpperCase(), null]);
  t.strictSame(unreadIn({ ...Object.fromEntries(read), SUBNET: subnet }), []);
  t.strictSame(unreadIn({ "\u017fubnet": subnet }), [], "as Go's decoder does");
  t.strictSame(
    unreadIn(
      {
        ...{ subnet, comment: "ours", log_level: "debug", assign_ipv4: "true", x: 1, "": 2 },
        // What belongs in several places, or is deeper than anything that is read.
        ...{ ranges: [[{ subnet, name: "a" }, [[[{ exclude: [] }]]]]], routes: [{ gateway: "" }] },
      },
      { ipMasq: true, mtu: 1500, vlan: 2, mode: "bridge", isGateway: true, args: { labels: {} } },
    ),
    [],
  );
  // Another plugin may have its own meaning for it.
  t.strictSame(unreadIn({ subnet }, { type: "antrea", exclude: [] }), []);
});

test("of a list, libcni reads the keys only as they are written", async (t) => {
  t.strictSame(unreadInList({ name: "net", disableGc: true, plugins: [] }), [
    "nothing reads disableGc; did you mean disableGC?",
  ]);
  t.strictSame(unreadInList({ Name: "net", cniversion: "1.0.0", plugin: [] }), [
    "nothing reads Name; did you mean name?",
    "nothing reads cniversion; did you mean cniVersion?",
    "nothing reads plugin; did you mean plugins?",
  ]);
  t.strictSame(unreadInList({ name: "net", plugins: [], args: {} }), [], "podman's");
  t.strictSame(unreadInList({ name: "net", plugins: [], nerdctlID: "x" }), []);
});

test("a key as long as a novel is compared with none", async (t) => {
  t.strictSame(unreadIn({ subnet, [`exclude${"s".repeat(1_000_000)}`]: [] }), []);
});

test("a key is named by its place in the file, whatever is wrong with it", async (t) => {
  const ipam = { type: "host-local", subnet, datadir_: "/x", routes: [{ dst_: "0.0.0.0/0" }] };
  t.strictSame(unreadInPlugin({ type: "bridge", exclude: [], ipam }, "plugins[1]"), [
    "nothing reads plugins[1].exclude; did you mean plugins[1].ipam.exclude?",
    "nothing reads plugins[1].ipam.datadir_; did you mean plugins[1].ipam.dataDir?",
    "nothing reads plugins[1].ipam.routes[0].dst_; did you mean plugins[1].ipam.routes[0].dst?",
  ]);
});

for (const name of exampleFiles.filter((file) => !file.endsWith(".template"))) {
  test(`nothing is said of the keys of ${name}`, async (t) => {
    const text = readExample(name);
    if (name.endsWith(".conflist")) t.strictSame(unreadInList(JSON.parse(text)), []);
    // The static plugin has keys of its own.
    const own = loadExample(name).plugins.filter(
      ({ ipam = null }) => isObject(ipam) && ipam.type !== "static",
    );
    t.strictSame(
      own.flatMap((plugin) => unreadInPlugin(plugin)),
      [],
    );
  });
}
