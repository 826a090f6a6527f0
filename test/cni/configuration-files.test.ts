import { test } from "tap";
import { configurationNames } from "../../src/cni/configuration-files.ts";

test("libcni reads what ends with one of three suffixes, in the order of the names", async (t) => {
  const names = [
    "20-b.conf",
    "10-a.conflist",
    "30-c.json",
    "README",
    "10-a.conflist.bak",
    ".conf.swp",
  ];
  t.same(configurationNames(names), ["10-a.conflist", "20-b.conf", "30-c.json"]);
});
