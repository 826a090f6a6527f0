// test: native executable
/** What a call costs, in instructions: a number that no other load on the machine changes. */

import { join } from "node:path";
import { test } from "tap";
import { canCount, countInstructions } from "../../scripts/bench/instructions.ts";
import { executable } from "../harness/executable.ts";
import { attachmentCall, configuration } from "../harness/runtime-call.ts";

/** The goals with a tenth of room. */
const limits = { VERSION: 165_000, ADD: 2_310_000, DEL: 1_320_000 } as const;

const skip = canCount ? false : "valgrind is not installed, which counts instructions";

test("VERSION, ADD and DEL of one address stay within their instructions", { skip }, (t) => {
  const directory = t.testdir();
  const document = configuration(join(directory, "data"), { subnet: "10.9.0.0/24" });
  const count = (verb: keyof typeof limits): number => {
    const { environment, stdin } = attachmentCall("ADD", { containerId: "c1" }, document);
    return countInstructions(executable, { ...environment, CNI_COMMAND: verb }, stdin, directory);
  };
  // The first call of a network makes its directories, and the next one finds it with nothing reserved.
  count("ADD");
  count("DEL");
  for (const verb of ["VERSION", "ADD", "DEL"] as const) {
    const instructions = count(verb);
    t.comment(`${verb}: ${instructions}`);
    t.ok(instructions <= limits[verb], `${verb}: ${instructions} of ${limits[verb]}`);
  }
  t.end();
});
