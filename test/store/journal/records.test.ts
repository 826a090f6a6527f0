/** The records of a journal. */

import { test } from "tap";
import { Records } from "../../../src/store/journal/records.ts";
import { SystemError } from "../../../src/system/system.ts";

const RECORD = "1,5 4026532001 pod /run/netns/a";
const lines = [
  `c1 eth0 198.51.100.1 ${RECORD}-before`,
  `c2 eth0 198.51.100.2 ${RECORD}`,
  `c1 eth0 198.51.100.1 ${RECORD}`,
  `c3 eth0 198.51.100.3 ${RECORD}`,
  "c3 eth0 -198.51.100.3",
  `c4 eth0 198.51.100.4 ${RECORD}`,
  "c4 eth0 198.51.100.4",
  `c5 eth0 198.51.100.11 ${RECORD}`,
];
const last = ["198.51.100.2", "198.51.100.1", "198.51.100.11"];

function lastOf(records: Records): readonly string[] {
  const written = [...records.written()].filter((one) => records.isLast(one));
  return written.map(({ record }) => record.name);
}

test("a record that a later line replaced is not the last about its reservation", async (t) => {
  t.same(lastOf(new Records(lines)), last);
  t.same(
    [...new Records(lines).all()].map(({ record }) => record.name),
    last,
  );
});

test("the lines about a few reservations are searched for, and all lines only for more", async (t) => {
  const searched: string[] = [];
  const records = new Records(lines, {
    linesAbout: (name) => {
      searched.push(name);
      return lines.filter((line) => line.includes(name));
    },
  });
  t.same(lastOf(records), last);
  t.equal(searched.length, 6, "one for each line with a record");
  t.same([lastOf(records), lastOf(records)], [last, last]);
  t.equal(searched.length, 8);
});

test("where the journal cannot be read again, what was read before decides", async (t) => {
  const unreadable = (): readonly string[] => {
    throw new SystemError("open", "journal", "EIO");
  };
  t.same(lastOf(new Records(lines, { linesAbout: unreadable })), last, "by what was read");
  t.same(lastOf(new Records(lines, { linesAbout: () => [] })), []);
});
