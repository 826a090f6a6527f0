import fc from "fast-check";
import { test } from "tap";
import {
  type CallRecord,
  type FailedCall,
  formatCall,
  parseCalls,
  type ReturnedAddress,
} from "../../../src/store/failed-calls/failed-call.ts";
import { anyText } from "../../harness/any-text.ts";

const call = {
  time: Date.UTC(2026, 0, 31, 12),
  network: "mynet",
  dataDir: "/var/lib/cni/networks",
  container: "c1",
  interfaceName: "eth0",
  pod: "default/web",
} as const;
const failed: FailedCall = {
  ...call,
  kind: "failed",
  verb: "ADD",
  code: 999,
  message: "no IP addresses available",
  details: "used 251 of 251",
};
const returned: ReturnedAddress = { ...call, kind: "returned", verb: "DEL", after: 120 };
const line = formatCall(failed);

test("whatever is in its texts, a record is one printable line that is read as it was", async (t) => {
  const text = fc.oneof(
    anyText,
    fc.constantFrom(line, '{"time":', '"', "\\", "\u001b[2J", "\u009b", "\ud800", "a\r\nb", "\0"),
  );
  fc.assert(
    fc.property(text, text, text, text, (network, container, message, details) => {
      const record: CallRecord = { ...failed, network, container, message, details };
      const written = formatCall(record);
      t.match(written, /^[ -~]+\n$/);
      t.strictSame(parseCalls(written), [record]);
    }),
  );
});

test("a line has at most 4096 bytes: details are cut off first, then the message", async (t) => {
  const room = 4096 - line.length;
  const long = "x".repeat(100_000);
  const cut = (record: FailedCall): FailedCall => {
    const written = formatCall(record);
    t.ok(written.length <= 4096);
    const [read, ...others] = parseCalls(written);
    t.strictSame(others, []);
    if (read?.kind !== "failed") throw new Error(written);
    return read;
  };

  const fitting = { ...failed, details: failed.details + "x".repeat(room) };
  t.equal(formatCall(fitting).length, 4096);
  t.strictSame(cut(fitting), fitting);
  const further = cut({ ...failed, details: `${fitting.details}x` });
  t.strictSame(further, { ...failed, details: `${fitting.details.slice(0, -6)}…` });

  t.strictSame(cut({ ...failed, details: `${fitting.details}${long}` }), further);
  t.match(cut({ ...failed, message: long }), { message: /^x{3000,}…$/, details: "…" });
  t.match(cut({ ...failed, message: long, details: "" }), { message: /^x{3000,}…$/, details: "" });
  for (const letter of ["é", "\0", '"', "😀", "\ud800"]) {
    const message = letter.repeat(5000);
    t.match(cut({ ...failed, message }).message, new RegExp(`^${letter}{300,}…$`, "u"), letter);
  }
  const everything = { network: long, dataDir: long, container: long, interfaceName: long };
  t.match(cut({ ...failed, ...everything, pod: long, message: long, details: long }), {
    network: /^x{3000,}…$/,
    message: "…",
  });
  t.match(parseCalls(formatCall({ ...returned, dataDir: long })), [{ dataDir: /^x{3000,}…$/ }]);
});

test("a line of which the disk has only a part is left out; what was appended behind it is read", async (t) => {
  for (let length = 0; length < line.length; length++) {
    const part = line.slice(0, length);
    t.strictSame(parseCalls(formatCall(returned) + part), [returned], `${length}`);
    for (const garbage of ["", "\0\0\0"]) {
      const read = parseCalls(part + garbage + formatCall(returned) + line);
      t.strictSame(read, [returned, failed], `${length}`);
    }
  }
});

test("anything else in the file is left out", async (t) => {
  for (const text of [
    "",
    "\n\n",
    "null",
    "[]",
    '{"time":'.repeat(1000),
    "[".repeat(100_000),
    `{"time":${"[".repeat(100_000)}`,
    "\0".repeat(500),
    ...["time", "kind", "verb", "network", "dataDir", "container", "interface", "pod"].map((key) =>
      line.replace(`"${key}":"`, `"other":"`),
    ),
    ...["code", "message", "details"].map((key) => line.replace(`"${key}":`, `"other":`)),
    line.replace("ADD", "STATUS"),
    line.replace('"failed"', '"returned"'),
    formatCall(returned).replace("120", '"120"'),
    line.replace("2026-01-31", "2026-99-31"),
    line.replace("999", '"999"'),
  ]) {
    t.strictSame(parseCalls(`${text}\n${line}`), [failed], text.slice(0, 80));
  }
});
