import { test } from "tap";
import { parseInterfaceName } from "../../../src/cni/attachment.ts";
import { stickyOwnerOf } from "../../../src/store/reuse/sticky.ts";

const eth0 = parseInterfaceName("eth0");

test("stickyOwnerOf is somebody's interface, where all values are known and can be written", async (t) => {
  t.equal(stickyOwnerOf(["default", "web-0"], eth0), "default web-0 eth0");
  t.equal(stickyOwnerOf(["52:54:00:12:34:56"], eth0), "52:54:00:12:34:56 eth0");
  t.not(stickyOwnerOf(["a/b", "c"], eth0), stickyOwnerOf(["a", "b/c"], eth0));
  for (const text of ["", "a b", "a\n", "é", "x".repeat(254)]) {
    t.equal(stickyOwnerOf(["default", text], eth0), undefined);
    t.equal(stickyOwnerOf([text, "web-0"], eth0), undefined);
  }
  const three = Array(3).fill("x".repeat(253));
  t.equal(stickyOwnerOf([...three, "x".repeat(133)], eth0)?.length, 900);
  t.equal(stickyOwnerOf([...three, "x".repeat(134)], eth0), undefined);
});
