import { test } from "tap";
import type { Json } from "../../src/cni/json.ts";
import type { ResultRoute } from "../../src/cni/result.ts";
import { parseRoute } from "../../src/ipam/route.ts";
import { refusalOf } from "../cni/refusal.ts";

const path = "ipam.routes[3]";

function route(value: Json): ResultRoute {
  return parseRoute({ value, path });
}

test("a route keeps its host bits and gets canonical addresses", (t) => {
  const cases: readonly (readonly [written: Json, route: ResultRoute])[] = [
    [{ dst: "0.0.0.0/0" }, { family: 4, dst: "0.0.0.0/0" }],
    [{ dst: "10.0.0.5/8" }, { family: 4, dst: "10.0.0.5/8" }],
    [{ dst: "2001:0DB8::/32" }, { family: 6, dst: "2001:db8::/32" }],
    [{ dst: "::ffff:10.0.0.0/104" }, { family: 4, dst: "10.0.0.0/8" }],
    [
      { dst: "::/0", gw: "FE80::1" },
      { family: 6, dst: "::/0", gw: "fe80::1" },
    ],
    [
      { dst: "::/0", gw: "10.0.0.1" },
      { family: 6, dst: "::/0", gw: "10.0.0.1" },
    ],
    [
      { dst: "::/0", gw: "" },
      { family: 6, dst: "::/0" },
    ],
    [
      { dst: "::/0", gw: null },
      { family: 6, dst: "::/0" },
    ],
    [
      { DST: "::/0", GW: "::1" },
      { family: 6, dst: "::/0", gw: "::1" },
    ],
    [
      { dst: "::/0", via: 5 },
      { family: 6, dst: "::/0" },
    ],
  ];
  for (const [written, expected] of cases) {
    t.strictSame(route(written), expected, JSON.stringify(written));
  }
  t.end();
});

test("a route keeps its numbers, explicit zeros and negative ones included", (t) => {
  const numbers = { mtu: 1400, advmss: 1340, priority: -5, table: 0, scope: 253 };
  t.strictSame(route({ dst: "10.9.0.0/16", ...numbers }), {
    family: 4,
    dst: "10.9.0.0/16",
    ...numbers,
  });
  t.end();
});

test("null numbers are absent", (t) => {
  const numbers = { mtu: null, advmss: null, priority: null, table: null, scope: null };
  t.strictSame(route({ dst: "::/0", ...numbers }), { family: 6, dst: "::/0" });
  t.end();
});

test("a route without a destination is an error, where the Go plugin crashes or prints garbage", (t) => {
  for (const written of [null, {}, { gw: "10.0.0.1" }, { dst: null }, { dst: "" }]) {
    const refusal = refusalOf(() => route(written));
    t.strictSame([refusal.code, refusal.message], [999, "invalid CIDR address: "]);
    t.match(refusal.details, `${path}.dst`);
  }
  t.end();
});

test("an invalid route is an error", (t) => {
  const cases: readonly (readonly [written: Json, message: RegExp])[] = [
    [{ dst: "1.2.3/45" }, /^invalid CIDR address: 1\.2\.3\/45$/],
    [{ dst: "10.0.0.0" }, /^invalid CIDR address: 10\.0\.0\.0$/],
    [{ dst: "10.0.0.0/8", gw: "1.2.3.x" }, /^invalid IP address: 1\.2\.3\.x$/],
    [{ dst: 5 }, /^json: cannot unmarshal number into ipam\.routes\[3\]\.dst/],
    [{ dst: "::/0", gw: 5 }, /^json: cannot unmarshal number into ipam\.routes\[3\]\.gw/],
    [{ dst: "::/0", mtu: "x" }, /^json: cannot unmarshal string into ipam\.routes\[3\]\.mtu/],
    [{ dst: "::/0", advmss: 1.5 }, /^json: cannot unmarshal number 1\.5 into .*\.advmss/],
    [{ dst: "::/0", priority: true }, /^json: cannot unmarshal bool into .*\.priority/],
    [{ dst: "::/0", table: [] }, /^json: cannot unmarshal array into .*\.table/],
    [{ dst: "::/0", scope: {} }, /^json: cannot unmarshal object into .*\.scope/],
    [{ dst: "::/0", mtu: 1e19 }, /^json: cannot unmarshal number .* into .*\.mtu/],
    [5, /^json: cannot unmarshal number into ipam\.routes\[3\]/],
    ["::/0", /^json: cannot unmarshal string into ipam\.routes\[3\]/],
    [[], /^json: cannot unmarshal array into ipam\.routes\[3\]/],
  ];
  for (const [written, message] of cases) {
    t.match(
      refusalOf(() => route(written)),
      { code: 999, message },
      JSON.stringify(written),
    );
  }
  t.end();
});
