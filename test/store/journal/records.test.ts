import { test } from "tap";
import { Records } from "../../../src/store/journal/records.ts";

const record = (name: string): string => `c1 eth0 ${name} 1,2 70 /run/netns/a`;

test("records are those of the journal's lines that are whole, each with its place", async (t) => {
  const lines = [record("10.0.0.2"), "c1 eth0 10.0.0.3 garbage", "c1 eth0 10.0.0.4"];
  const records = new Records([...lines, record("10.0.0.5")], undefined);

  t.match(
    [...records.all()],
    [
      { place: 0, record: { name: "10.0.0.2" } },
      { place: 3, record: { name: "10.0.0.5" } },
    ],
  );
  t.equal(records.of("10.0.0.5")?.place, 3);
  for (const name of ["10.0.0.3", "10.0.0.4", "10.0.0.9"]) t.equal(records.of(name), undefined);
});
