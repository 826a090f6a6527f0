import { test } from "tap";
import { wordsIn } from "../../../src/cli/command/words.ts";

for (const [line, words, isOpen] of [
  ["", [], false],
  [" gc  --yes\t--log\n", ["gc", "--yes", "--log"], false],
  ["gc --live-command 'crictl pods -q'", ["gc", "--live-command", "crictl pods -q"], false],
  [`gc "--live-command=echo 'a'"`, ["gc", "--live-command=echo 'a'"], false],
  ["a''b ''", ["ab", ""], false],
  [
    String.raw`it\'s one\ word 'it'\''s' 'a\b'`,
    ["it's", "one word", "it's", String.raw`a\b`],
    false,
  ],
  [
    String.raw`gc "--live-command=echo \"a b\"" "\\ \$ \` \a"`,
    ["gc", '--live-command=echo "a b"', "\\ $ ` \\a"],
    false,
  ],
  [String.raw`"open\"`, ['open"'], true],
  ["two 'open quote", ["two", "open quote"], true],
  ["'", [""], true],
  ["'a' \"", ["a", ""], true],
] as const) {
  test(`wordsIn(${JSON.stringify(line)})`, async (t) => {
    t.strictSame(wordsIn(line), { words, isOpen });
  });
}
