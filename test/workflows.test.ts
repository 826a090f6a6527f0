// test: own process
/** The workflows of .github are what GitHub accepts, and use actions by the hash of a commit. */

import { readdirSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { test } from "tap";
import { inRepository } from "./harness/repository.ts";

// The parser imports JSON as bundlers allow it.
registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith(".json") ? { ...context, importAttributes: { type: "json" } } : context),
});
const { NoOperationTraceWriter, parseWorkflow } = await import("@actions/workflow-parser");

const directory = inRepository(".github/workflows");

for (const name of readdirSync(directory)) {
  test(`${name} is a workflow`, async (t) => {
    const content = readFileSync(`${directory}/${name}`, "utf8");
    const { context } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
    t.strictSame(context.errors.getErrors(), []);
    const actions = [...content.matchAll(/^ +(?:- )?uses: (.*)$/gm)].map(
      ([, action = ""]) => action,
    );
    t.ok(actions.length > 0);
    for (const action of actions) t.match(action, /^[\w/-]+@[0-9a-f]{40} # v[0-9.]+$/);
    t.match(
      content,
      /^permissions:\n {2}contents: read$/m,
      "no job may write but where it says so",
    );
  });
}
