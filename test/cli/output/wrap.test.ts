import { test } from "tap";
import { wrap } from "../../../src/cli/output/wrap.ts";

for (const [name, text, width, lines] of [
  ["text that fits is one line", "one two", 7, ["one two"]],
  ["text is broken at spaces", "one two three", 8, ["one two", "three"]],
  ["a path after a slash", "/var/lib/cni/networks", 14, ["/var/lib/cni/", "networks"]],
  [
    "a pod after its namespace",
    "kube-system/coredns-7d89-x",
    20,
    ["kube-system/", "coredns-7d89-x"],
  ],
  ["a list after a comma", "10.0.0.0/8,192.168.0.0/16", 12, ["10.0.0.0/8,", "192.168.0.0/", "16"]],
  ["a word without a place to break anywhere", "abcdefgh", 3, ["abc", "def", "gh"]],
] as const) {
  test(`${name}`, async (t) => {
    t.strictSame(wrap(text, width), lines);
    t.ok(lines.every((line) => line.length <= width));
  });
}
