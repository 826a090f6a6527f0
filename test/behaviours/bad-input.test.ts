// test: each executable, one if short
/** Standard input that is not a network configuration: one error object, and nothing made. */

import { invalidTexts } from "../cni/invalid-texts.ts";
import { behaviour, changesNothing, fails } from "./behaviour.ts";

const deep = 10_001;

/** More than the texts for `syntaxError`: here the engine's own parser decides, which is another in each executable. */
const texts: typeof invalidTexts = [
  ...invalidTexts,
  [
    `{"name":"net","a":${"[".repeat(deep)}${"]".repeat(deep)}}`,
    "invalid character '[' exceeded max depth",
  ],
  [`${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`, "invalid character '{' exceeded max depth"],
  ["[".repeat(1_000_000), "invalid character '[' exceeded max depth"],
];

behaviour("ADD and DEL refuse what is no configuration on standard input", {}, (t, network) => {
  changesNothing(t, network, () => {
    for (const [text, message] of texts) {
      for (const verb of ["ADD", "DEL"]) {
        const answer = network.call(verb, "c1", { stdin: text });
        fails(t, answer, 6);
        t.equal(answer.error?.msg, `error unmarshall network config: ${message}`);
        t.equal(answer.stderr, "");
      }
    }
  });
});

behaviour("ADD refuses a network name that is none, and shows it", {}, (t, network) => {
  changesNothing(t, network, () => {
    for (const name of [
      ...["te%%st", ".", "..", "../net", "a/b", ".host-local", "-net", "_net", " net", "net "],
      ...["ne t", "net\n", "net\0", "né", "netｘ", "net\u2028", "a\\b", "a:b", "<net>"],
      ...["\ud800", "net\udfff"],
    ]) {
      const answer = network.add("c1", { top: { name } });
      fails(t, answer, 7, /^invalid characters found in network name$/);
      t.equal(answer.error?.details, name.toWellFormed());
    }
  });
});
