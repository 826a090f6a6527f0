import { test } from "tap";
import { commandHelp } from "../../../src/cli/manual/help.ts";
import { gc } from "../../../src/operator/gc/gc.ts";

test("the help of gc fits on one screen", async (t) => {
  const lines = commandHelp(gc, 80).trimEnd().split("\n");

  t.ok(lines.length <= 24, lines.join("\n"));
});
