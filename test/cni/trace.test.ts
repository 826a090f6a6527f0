import { test } from "tap";
import { traceId, withTrace } from "../../src/cni/trace.ts";

const id = "4bf92f3577b34da6a3ce929d0e0e4736";
const valid = `00-${id}-00f067aa0ba902b7-01`;

test("the trace id is the second field of TRACEPARENT", async (t) => {
  t.equal(traceId(valid), id);
});

for (const [what, value] of [
  ["no value", undefined],
  ["an empty value", ""],
  ["a trace id of zeros", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`],
  ["a parent id of zeros", `00-${id}-${"0".repeat(16)}-01`],
  ["an unknown version", valid.replace("00-", "ff-")],
  ["capital letters", valid.toUpperCase()],
  ["a short trace id", valid.replace("4bf", "")],
  ["a missing field", `00-${id}-00f067aa0ba902b7`],
  ["a further field", `${valid}-00`],
  ["a line end", `${valid}\n`],
] as const) {
  test(`${what} is no trace`, async (t) => {
    t.equal(traceId(value), undefined);
    t.equal(withTrace("text", "; ", value), "text");
  });
}

test("a trace follows a text after a separator, and stands alone where there is no text", async (t) => {
  t.equal(withTrace("text", "; ", valid), `text; trace ${id}`);
  t.equal(withTrace("", "; ", valid), `trace ${id}`);
});
