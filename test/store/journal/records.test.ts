import { test } from "tap";
import { Records } from "../../../src/store/journal/records.ts";

const record = (name: string): string => `c1 eth0 ${name} 1,2 70 /run/netns/a`;

test("records are those of the journal's lines that are whole, each with its place", async (t) => {
  const whole = [record("10.0.0.2"), record("10.0.0.5")];
  const lines = ["c1 eth0 10.0.0.4", ...whole, "c1 eth0 10.0.0.3 garbage"];
  const records = new Records(lines, undefined);

  t.match(
    [...records.all()],
    [
      { place: 1, record: { name: "10.0.0.2" } },
      { place: 2, record: { name: "10.0.0.5" } },
    ],
  );
  t.equal(records.of("10.0.0.5")?.place, 2);
  for (const name of ["10.0.0.3", "10.0.0.4", "10.0.0.9"]) t.equal(records.of(name), undefined);
});
