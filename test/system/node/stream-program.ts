/**
 * A process that does one thing with its standard streams; an error goes to standard error.
 *
 * Usage: `node stream-program.ts read LIMIT [MILLISECONDS]` prints how many characters standard input has;
 * `node stream-program.ts write LENGTH` prints that many characters.
 */

import { createNodeSystem } from "../../../src/system/node/node-system.ts";

const [task = "", amount = "0", timeout = "60000"] = process.argv.slice(2);
const system = createNodeSystem();
try {
  if (task === "read") {
    const input = system.readStandardInput(Number(amount), Number(timeout));
    system.writeStandardOutput(String(input.length));
  } else {
    system.writeStandardOutput("x".repeat(Number(amount)));
  }
  system.exit(0);
} catch (error) {
  system.writeStandardError(String(error));
  system.exit(1);
}
