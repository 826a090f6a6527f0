import { test } from "tap";
import { formatAddress } from "../../../src/ipam/address.ts";
import { readCursor, writeCursor } from "../../../src/store/reservations/cursor.ts";
import { refuse } from "../../harness/interruption.ts";
import { address } from "../../ipam/parsed.ts";
import { filesOf, machineWith, open } from "../fixtures.ts";

/** The cursor of the first range set. */
const CURSOR = "/data/net/last_reserved_ip.0";

/** No line is expected. */
function unexpected(line: string): never {
  throw new Error(line);
}

test("a cursor is read as an address; anything else counts as absent", async (t) => {
  const cases = [
    ["10.0.0.3", "10.0.0.3"],
    [" 10.0.0.3\r\n", "10.0.0.3"],
    ["2001:db8::3", "2001:db8::3"],
    ["::ffff:10.0.0.3", "10.0.0.3"],
    ["", undefined],
    ["garbage", undefined],
    ["10.0.0.3/24", undefined],
    ["10.0.0.03", undefined],
    ["10.0.0.3\n10.0.0.4", undefined],
  ] as const;

  for (const [content, expected] of cases) {
    const process = machineWith({ "last_reserved_ip.0": content }).start();
    const cursor = readCursor(open(process), 0, unexpected);

    t.equal(cursor && formatAddress(cursor), expected, JSON.stringify(content));
  }
  t.equal(readCursor(open(machineWith().start()), 0, unexpected), undefined, "none yet");
});

test("a cursor that cannot be read is none, with a warning as the Go plugin's", async (t) => {
  const machine = machineWith({ "last_reserved_ip.0": "10.0.0.4" });
  const warnings: string[] = [];
  const files = open(machine.start({ interrupt: refuse("readFile", "EIO", CURSOR) }));

  t.equal(
    readCursor(files, 0, (line) => warnings.push(line)),
    undefined,
  );

  t.match(
    warnings.join(""),
    `Error retrieving last reserved ip: open ${CURSOR}: input/output error\n`,
  );
});

test("a missing cursor is made; a symbolic link in its place is replaced and not followed", async (t) => {
  const machine = machineWith({ target: "stays" });
  machine.disk.putLink(CURSOR, "target");

  const files = open(machine.start());
  writeCursor(files, 0, address("10.0.0.3"));
  writeCursor(files, 1, address("10.0.0.9"));

  t.same(filesOf(machine), {
    "last_reserved_ip.0": "10.0.0.3",
    "last_reserved_ip.1": "10.0.0.9",
    target: "stays",
  });
  t.equal(machine.disk.linkStatus(CURSOR).kind, "file");
});
