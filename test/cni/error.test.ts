import { test } from "tap";
import {
  asCniError,
  CniError,
  ErrorCode,
  internalError,
  messageWithDetails,
} from "../../src/cni/error.ts";

test("codes are those of the specification", async (t) => {
  t.strictSame(ErrorCode, {
    incompatibleVersion: 1,
    invalidEnvironment: 4,
    ioFailure: 5,
    decodingFailure: 6,
    invalidNetworkConfig: 7,
    invalidNetworkNamespace: 8,
    tryAgainLater: 11,
    pluginNotAvailable: 50,
    internal: 999,
  });
});

test("an error without details has empty ones", async (t) => {
  t.equal(new CniError(7, "missing network name").details, "");
  t.equal(internalError("no IP ranges specified").details, "");
});

test("a plain error of the Go plugin has code 999", async (t) => {
  t.match(internalError("a", "b"), { code: 999, message: "a", details: "b" });
});

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
