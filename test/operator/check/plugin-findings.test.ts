/** Whether the plugin that was installed is still in the plugin directory. */

import { rmSync, writeFileSync } from "node:fs";
import { scenario } from "../../e2e/scenario.ts";
import { nodeFor } from "../node.ts";
import { runAsPrinted, tool } from "../tool.ts";

const needs = { plugins: [], cniVersion: "1.0.0" };

const TARGET = "/opt/cni/bin/host-local";

/** Another plugin, which describes itself as the Go plugin does. */
const OTHER = `#!/bin/sh
if [ "$CNI_COMMAND" = VERSION ]; then echo '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'
else echo 'CNI host-local plugin v1.1.1' >&2; fi
`;

scenario("an installer that overwrites the plugin is noticed", needs, (t) => {
  const node = nodeFor(t);
  const found = (): readonly { readonly code: string; readonly commands: readonly string[] }[] => {
    const { document } = node.json(["check"]);
    return (document as { readonly findings: ReturnType<typeof found> }).findings.filter(
      ({ code }) => code === "plugin-replaced",
    );
  };
  const install = (...words: readonly string[]): void => {
    t.match(tool(["install", "/opt/cni/bin", "--yes", ...words]), { exitCode: 0 });
  };
  const overwrite = (): void => {
    rmSync(TARGET);
    writeFileSync(TARGET, OTHER, { mode: 0o755 });
  };
  overwrite();
  t.same(found(), [], "this program was never installed");

  install();
  t.same(found(), []);

  overwrite();
  t.match(found(), [{ code: "plugin-replaced", severity: "warning", path: TARGET }]);
  t.match(node.tool(["check"]), { exitCode: 1, stdout: /was replaced by another one/ });

  const [command = ""] = found()[0]?.commands ?? [];
  t.equal(command, "host-local install /opt/cni/bin");
  t.match(runAsPrinted(t, command), { exitCode: 1, stdout: /will be installed/ });
  t.match(runAsPrinted(t, `${command} --yes`), { exitCode: 0 });
  t.same(found(), []);

  install("--rollback");
  t.same(found(), [], "the other plugin is back because that was asked for");

  install("--rollback");
  rmSync(TARGET);
  t.match(node.tool(["check"]), { exitCode: 1, stdout: /was removed/ });
});
