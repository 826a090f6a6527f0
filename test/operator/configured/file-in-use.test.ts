/** Who uses a configuration file, by what was read of all: tables of facts. */

import { test } from "tap";
import type { ConfigurationFile } from "../../../src/operator/configured/configuration-files.ts";
import { type FileUse, isUnused, usesOf } from "../../../src/operator/configured/file-in-use.ts";
import type { Runtime } from "../../../src/operator/configured/runtime.ts";

/** A file of the network that its name has after its number, such as `10-net.conf`, unless it is said otherwise. */
function fileAt(path: string, facts: Partial<ConfigurationFile> = {}): ConfigurationFile {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return {
    source: path,
    directory: path.slice(0, -name.length - 1),
    network: name.replace(/^\d+-|\.\w+$/g, ""),
    isList: name.endsWith(".conflist"),
    callsOthers: false,
    document: {},
    appended: [],
    refusal: undefined,
    isNamespaced: false,
    ...facts,
  };
}

const refused = { refusal: "no type" };

/** The use, and the number of the file in its place. */
function textOf(use: FileUse | undefined, files: readonly ConfigurationFile[]): string {
  if (use === undefined) return "unknown";
  return use.other === undefined ? use.kind : `${use.kind} ${files.indexOf(use.other)}`;
}

const cases: Readonly<
  Record<
    string,
    readonly (readonly [path: string, use: string, facts?: Partial<ConfigurationFile>])[]
  >
> = {
  "a list behind a plugin alone, and one behind both": [
    ["/a/10-net.conf", "used"],
    ["/a/20-net.conflist", "byName 0"],
    ["/a/30-net.conflist", "behind 0"],
  ],
  "two files of one network that none can use": [
    ["/a/10-net.conf", "refused", refused],
    ["/a/20-net.conf", "refused 0", refused],
  ],
  "files without a name": [
    ["/a/10-first.conf", "used", { network: "" }],
    ["/a/20-second.conf", "refused", { network: "", ...refused }],
    ["/a/30-third.conf", "refused", { network: "", ...refused }],
  ],
  "a network that is the first of another directory": [
    ["/a/10-first.conf", "used"],
    ["/a/20-net.conf", "used"],
    ["/b/10-net.conf", "used"],
  ],
};

for (const [what, rows] of Object.entries(cases)) {
  test(`${what}: ${rows.map(([, use]) => use).join(", ")}`, async (t) => {
    const files = rows.map(([path, , facts]) => fileAt(path, facts));
    const uses = usesOf(files);
    t.strictSame(
      files.map((file) => textOf(uses.get(file), files)),
      rows.map(([, use]) => use),
    );
  });
}

/** Runtimes by the directories that they read, and the networks that they name. */
function reading(
  ...said: readonly (readonly [directory: string, network?: string])[]
): readonly Runtime[] {
  return said.map(([configurations, network]) => {
    return { name: `of ${configurations}`, configurations, network, plugins: undefined };
  });
}

test("a directory that no runtime reads: used, unread, unread 0, byName", async (t) => {
  const files = [
    ...["/a/10-net.conf", "/b/10-other.conf", "/b/20-net.conf"].map((path) => fileAt(path)),
    fileAt("/b/default/10-other.conflist", { isNamespaced: true }),
  ];
  const uses = usesOf(files, reading(["/a"]));
  t.strictSame(
    files.map((file) => textOf(uses.get(file), files)),
    ["used", "unread", "unread 0", "byName"],
  );
});

test("the network that a runtime names is used, whatever comes first", async (t) => {
  const files = ["/a/10-first.conf", "/a/20-net.conf"].map((path) => fileAt(path));
  const uses = usesOf(files, reading(["/a", "net"]));
  t.strictSame(
    files.map((file) => textOf(uses.get(file), files)),
    ["used", "used"],
  );
});

test("nobody uses what is behind another, nor what is refused beside another", async (t) => {
  const [file, other] = [fileAt("/a/20-net.conf"), fileAt("/a/10-net.conf")];
  for (const [kind, expected] of [
    ["behind", true],
    ["refused", true],
    ["byName", false],
  ] as const) {
    t.equal(isUnused({ kind, file, other }), expected, kind);
  }
  t.notOk(isUnused({ kind: "refused", file, other: undefined }));
  t.notOk(isUnused({ kind: "used", file }));
  t.notOk(isUnused(undefined));
});

test("why a file is not used names the one in its place", async (t) => {
  const whyOf = (runtimes: readonly Runtime[], ...files: readonly ConfigurationFile[]) =>
    [...usesOf(files, runtimes).values()].map(({ why }) => why);
  const names = ["00-first.conf", "10-net.conf", "20-net.conf", "30-net.conflist"];
  const files = names.map((name) => fileAt(`/a/${name}`));
  t.strictSame(whyOf([], ...files, fileAt("/a/40-net.conf", refused)), [
    undefined,
    "containerd and CRI-O do not use it: /a/00-first.conf comes first, so that pods get addresses of first",
    "no runtime uses it: /a/10-net.conf configures net, too, and comes first",
    "containerd and CRI-O do not use it: /a/10-net.conf configures net, too, and comes first",
    undefined,
  ]);
  t.strictSame(whyOf(reading(["/b"], ["/c"]), fileAt("/a/10-net.conf")), [
    "no runtime reads /a: of /b reads /b, of /c reads /c",
  ]);
});
