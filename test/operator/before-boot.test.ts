/** Operator commands and what is from before this boot. */

import { test } from "tap";
import { gc } from "../../src/operator/gc/gc.ts";
import { release } from "../../src/operator/reservations/release.ts";
import { reserve } from "../../src/operator/reservations/reserve.ts";
import { namesBeforeBoot } from "../../src/store/journal/earlier-boots.ts";
import { filesOf, open, withNetwork } from "../store/fixtures.ts";
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

test("reserve: the next boot knows what is from before it, even if no call follows", async (t) => {
  const machine = memoryNode({ "10.0.0.2": "c1\r\neth0", lock: "" });
  withNetwork(machine.start(), (network) => network.allOwned());
  machine.wait(5000);

  for (const more of [{}, { "--unreserve": "" }]) {
    const words = { ...places, "--network": "net", ...more };
    const context = contextOf(startOperator(machine).system, words, ["10.0.0.4"]);
    t.equal(reserve.run(context).exitCode, 0);
    machine.wait(5000);
    machine.boot();
    t.ok(namesBeforeBoot(open(machine.start())).has("10.0.0.2"), JSON.stringify(more));
  }
});
