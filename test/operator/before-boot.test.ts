/** Operator commands and what is from before this boot. */

import { test } from "tap";
import { gc } from "../../src/operator/gc/gc.ts";
import { release } from "../../src/operator/reservations/release.ts";
import { filesOf, withNetwork } from "../store/fixtures.ts";
import { contextOf, memoryNode, places, startOperator } from "./memory-node.ts";

const options = { ...places, "--yes": "" };

for (const [command, words, operands, expected] of [
  [gc, { "--live": "/live", "--now": "" }, [], { dead: [{ beforeBoot: true }] }],
  [release, { "--force": "" }, ["10.0.0.2"], { released: [{ beforeBoot: true }] }],
] as const) {
  test(`${command.name}: the document says that what was released is from before this boot`, async (t) => {
    const machine = memoryNode({
      "10.0.0.2": "c1\r\neth0",
      "10.0.0.3": "c2\r\neth0",
      lock: "",
    });
    withNetwork(machine.start(), (network) => network.allOwned());
    machine.wait(3_600_000);
    machine.boot();
    machine.disk.put("/live", "c2\n");
    const context = contextOf(startOperator(machine).system, { ...options, ...words }, operands);

    const document = command.run(context).document();

    t.match(document, expected);
    t.notOk(filesOf(machine)["10.0.0.2"]);
  });
}
