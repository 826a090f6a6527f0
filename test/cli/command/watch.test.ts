import { test } from "tap";
import { cutToScreen } from "../../../src/cli/command/watch.ts";

test("what does not fit on a screen is counted", async (t) => {
  const text = "a\nb\nc\nd\n";
  for (const [height, shown] of [
    [undefined, text],
    [5, text],
    [4, "a\nb\n… 2 more\n"],
    [3, "a\n… 3 more\n"],
    [1, "a\n… 3 more\n"],
  ] as const) {
    t.equal(cutToScreen(text, height), shown);
  }
  t.equal(cutToScreen("", 1), "");
});
