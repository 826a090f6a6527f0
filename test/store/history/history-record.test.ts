import fc from "fast-check";
import { test } from "tap";
import {
  formatRecord,
  type HistoryRecord,
  parseRecords,
  podWord,
} from "../../../src/store/history/history-record.ts";
import { anyText } from "../../harness/any-text.ts";

const record: HistoryRecord = {
  time: Date.UTC(2026, 0, 31, 12),
  verb: "ADD",
  address: "10.1.2.3",
  container: "c1",
  interfaceName: "eth0",
  pod: "default/web",
};
const released: HistoryRecord = {
  ...record,
  time: record.time + 1_800_000,
  verb: "release",
  pod: "",
};
const line = formatRecord(record);

test("a record is a line that people can search", async (t) => {
  t.equal(
    line + formatRecord(released),
    `2026-01-31T12:00:00.000Z ADD 10.1.2.3 c1 eth0 default/web
2026-01-31T12:30:00.000Z release 10.1.2.3 c1 eth0 -
`,
  );
  t.strictSame(parseRecords(line + formatRecord(released)), [record, released]);
  const verbs = { ...record, container: "ADD", interfaceName: "DEL", pod: "GC" };
  t.strictSame(parseRecords(formatRecord(verbs)), [verbs]);
  const unknown = { ...record, container: "", interfaceName: "", pod: "" };
  t.strictSame(parseRecords(formatRecord({ ...unknown, address: "2001:DB8:0::5" })), [
    { ...unknown, address: "2001:db8::5" },
  ]);
  const odd = { ...record, interfaceName: "a\tb", pod: "défaut/w b" };
  t.match(formatRecord(odd), / a\?b d\?faut\/w\?b\n$/);
});

test("whatever a runtime names a pod or an interface, a record is one line of printable words", async (t) => {
  const text = fc.oneof(
    anyText,
    fc.constantFrom(line, `x\n${line}`, " ", "\u001b[2J", "\ud800", "é\u202e", "a b\r\nc", "-"),
  );
  fc.assert(
    fc.property(text, text, (interfaceName, pod) => {
      const written = formatRecord({ ...record, interfaceName, pod });
      t.match(written, /^[ -~]+\n$/);
      const [read, ...others] = parseRecords(written);
      t.strictSame(others, []);
      t.match(read, { time: record.time, verb: "ADD", address: "10.1.2.3", container: "c1" });
      t.equal(podWord(read?.pod ?? ""), podWord(pod));
    }),
  );
});

test("no name makes a line endless", async (t) => {
  const long = "x".repeat(100_000);
  t.ok(formatRecord({ ...record, pod: long }).length < 400);
  const longest = `${"n".repeat(63)}/${"p".repeat(253)}`;
  t.equal(podWord(`${longest}x`), longest);
});

test("a line of which the disk has only a part is left out; what was appended behind it is read", async (t) => {
  for (let length = 0; length < line.length; length++) {
    const part = line.slice(0, length);
    t.strictSame(parseRecords(formatRecord(released) + part), [released], `${length}`);
    for (const garbage of ["", "\0\0\0"]) {
      const read = parseRecords(part + garbage + formatRecord(released) + line);
      t.strictSame(read, [released, record], `${length}`);
    }
  }
});

test("anything else in the file is left out", async (t) => {
  for (const text of [
    "",
    "\n\n",
    "# a comment\n",
    "\0".repeat(500),
    line.replace("ADD", "MOVE"),
    line.replace("10.1.2.3", "10.1.2"),
    line.replace("2026-01-31", "2026-99-31"),
    line.replace("default/web", "default/web and more"),
    line.replace(" default/web", ""),
  ]) {
    t.strictSame(parseRecords(`${text}\n${line}`), [record]);
  }
});
