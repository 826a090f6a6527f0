import { test } from "tap";
import { columns, formatTable } from "../../../src/cli/output/table.ts";

const headings = columns("NETWORK", "?INTERFACE", ">FREE", "POD");
const rows = [
  ["mynet", "eth0", "7", "kube-system/coredns-7d89d9b6b8-x7k2p"],
  ["other", "net1", "12", "default/web"],
];

test("columns are two spaces apart, numbers aligned on the right", async (t) => {
  t.equal(
    formatTable(headings, rows),
    `NETWORK  INTERFACE  FREE  POD
mynet    eth0          7  kube-system/coredns-7d89d9b6b8-x7k2p
other    net1         12  default/web
`,
  );
});

test("without headings only the rows are left, and nothing of no rows", async (t) => {
  t.equal(
    formatTable(headings, rows.slice(1), { isHeadless: true }),
    "other  net1  12  default/web\n",
  );
  t.equal(formatTable(headings, [], { isHeadless: true }), "");
  t.equal(formatTable(headings, [], { width: 10 }), "NETWORK  INTERFACE  FREE  POD\n");
});

test("a table that is too wide loses its optional column", async (t) => {
  t.equal(
    formatTable(headings, rows, { width: 55 }),
    `NETWORK  FREE  POD
mynet       7  kube-system/coredns-7d89d9b6b8-x7k2p
other      12  default/web
`,
  );
});

test("one that is still too wide breaks the cells of its widest columns", async (t) => {
  t.equal(
    formatTable(headings, rows, { width: 43 }),
    `NETWORK  FREE  POD
mynet       7  kube-system/
               coredns-7d89d9b6b8-x7k2p
other      12  default/web
`,
  );
});

test("one whose columns would be too narrow becomes lists, with all columns", async (t) => {
  t.equal(
    formatTable(headings, rows, { width: 36 }),
    `NETWORK    mynet
INTERFACE  eth0
FREE       7
POD        kube-system/
           coredns-7d89d9b6b8-x7k2p

NETWORK    other
INTERFACE  net1
FREE       12
POD        default/web
`,
  );
});

test("colours do not count, and line ends in cells start no line", async (t) => {
  t.equal(
    formatTable(columns("A", "B"), [["\u001b[31merror\u001b[0m", "x\ny"]], { width: 10 }),
    "A      B\n\u001b[31merror\u001b[0m  x?y\n",
  );
});
