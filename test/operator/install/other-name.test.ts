// test: native executable, makes namespaces, mounts
/** install --as: another name, beside a host-local that somebody else installs. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scenario } from "../../e2e/scenario.ts";
import { tool } from "../../harness/tool.ts";
import { nodeFor } from "../node.ts";
import { directoryWith, GO } from "./plugin-directory.ts";

const NAME = "host-local-ts";

test("the other host-local stays as it is", async (t) => {
  const directory = directoryWith(t, "go - -");

  t.equal(directory.install("--as", NAME, "--yes")[0], 0);

  t.equal(directory.state, `go - - ${NAME} ${NAME}.installed`);
});

for (const name of ["a/b", ".x", "x.previous", "x.installed", "host local"]) {
  test(`${JSON.stringify(name)} is no such name`, async (t) => {
    const directory = directoryWith(t, "- - -");
    const [exitCode, , stderr] = directory.install("--as", name, "--yes");
    t.equal(exitCode, 2);
    t.match(
      stderr,
      `install: --as: expected a name of its own such as host-local-ts, found ${name}\n`,
    );
    t.equal(directory.state, "- - -");
  });
}

test("another plugin of the name is not replaced, unless the name was this one's", async (t) => {
  const foreign = directoryWith(t, "go - -", NAME);
  t.strictSame(foreign.install("--as", NAME, "--yes"), [
    2,
    "",
    `host-local: install: ${foreign.target} is another plugin; nothing was changed. Choose another name with --as\n`,
  ]);
  t.equal(foreign.state, "go - -");

  for (const [before, after] of [
    ["go - M", "this go M"],
    ["older - -", "this - M"],
  ] as const) {
    const own = directoryWith(t, before, NAME);
    t.equal(own.install("--as", NAME, "--yes")[0], 0);
    t.equal(own.state, after);
  }
});

scenario(
  "the commands find configurations with the name",
  { plugins: [], cniVersion: "1.0.0" },
  async (t) => {
    const node = nodeFor(t);
    const ipam = { type: NAME, subnet: "198.51.100.0/24", dataDir: node.dataDir };
    node.configure("net.conf", { cniVersion: "1.0.0", name: "net", type: "bridge", ipam });
    const sources = (): readonly unknown[] => {
      const { document } = node.json(["networks"]);
      const { networks } = document as {
        readonly networks: readonly { readonly configuration: unknown }[];
      };
      return networks.map(({ configuration }) => configuration);
    };
    t.same(sources(), [], "it is not this plugin's name");
    const marker = `/opt/cni/bin/${NAME}.installed`;
    writeFileSync(marker, "another program's file\n");
    t.same(sources(), [], "nor by a file of the same form");

    rmSync(marker);
    t.match(tool(["install", "/opt/cni/bin", "--as", NAME, "--yes"]), { exitCode: 0 });
    t.same(sources(), [join(node.confDir, "net.conf")]);

    writeFileSync(`/opt/cni/bin/${NAME}`, GO, { mode: 0o755 });
    t.match(node.json(["check"]).document, {
      findings: [
        {
          code: "plugin-replaced",
          path: `/opt/cni/bin/${NAME}`,
          commands: [`host-local install /opt/cni/bin --as ${NAME}`],
        },
      ],
    });
  },
);
