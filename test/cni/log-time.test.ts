import { test } from "tap";
import { logTime } from "../../src/cni/log-time.ts";

test("the time is local, with all parts padded", async (t) => {
  t.equal(logTime(new Date(2026, 0, 3, 4, 5, 6).getTime()), "2026/01/03 04:05:06");
  t.equal(logTime(new Date(2026, 11, 31, 23, 59, 59, 999).getTime()), "2026/12/31 23:59:59");
});
