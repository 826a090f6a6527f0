import { test } from "tap";
import { asCniError, CniError, internalError, messageWithDetails } from "../../src/cni/error.ts";

test("a CNI error is printed as it is", async (t) => {
  const error = new CniError(11, "locked", "by c1");
  t.equal(asCniError(error), error);
});

test("any other error is printed with code 999 and its message", async (t) => {
  t.match(asCniError(new RangeError("out of range")), { code: 999, message: "out of range" });
  t.match(asCniError("text"), { code: 999, message: "text" });
});

test("a message has its details behind it", async (t) => {
  t.equal(messageWithDetails(internalError("it failed", "look")), "it failed; look");
  t.equal(messageWithDetails(internalError("it failed")), "it failed");
  t.equal(messageWithDetails(new Error("it failed")), "it failed");
});
