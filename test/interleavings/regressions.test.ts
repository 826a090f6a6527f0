// test: own process
/** Defects that no search of the plan would show. */

import { test } from "tap";
import { SystemError } from "../../src/system/system.ts";
import { runAnswered } from "./process.ts";
import { reservationsIn } from "./rules.ts";
import { cast, graves, NO_TROUBLE, prepare } from "./scenes.ts";
import { clockIn, type Operation, type Reply, replyTo } from "./world.ts";

test("gc keeps what has the network namespace of its record, though its file cannot be looked at", async (t) => {
  const { search, calls } = prepare(cast("gc --live c", graves.gone), NO_TROUBLE);
  const { start } = search.scene;
  const path = calls.namespaceOf("e").replace("-new", "");
  const answer = (operation: Operation): Reply =>
    operation.word === "stat" && operation.path === path
      ? { error: new SystemError("stat", path, "EIO") }
      : replyTo(operation, start);

  const { end } = runAnswered(calls.program("gc --live c"), 100, clockIn(start), answer);

  t.match(end?.stdout, "2 alive, 1 dead; 1 released");
  t.same([...reservationsIn(start).keys()], ["10.0.0.2", "10.0.0.4"]);
});
