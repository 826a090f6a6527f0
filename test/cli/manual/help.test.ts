import { test } from "tap";
import { commandHelp } from "../../../src/cli/manual/help.ts";
import { agent } from "../../../src/operator/agent/agent.ts";
import { gc } from "../../../src/operator/gc/gc.ts";

test("the help of gc, the most dangerous command, is short enough to be read", async (t) => {
  const lines = commandHelp(gc, 80).trimEnd().split("\n");

  t.ok(lines.length <= 36, lines.join("\n"));
});

test("the usage line of agent has an interval before each command", async (t) => {
  const help = commandHelp(agent, 200);

  t.match(help, /^host-local agent --every DURATION COMMAND \[--every DURATION COMMAND\]\.\.\./);
});
