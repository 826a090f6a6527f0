import { test } from "tap";
import { formatExposition } from "../../../src/operator/metrics/exposition.ts";

test("a metric has its help, its type and a line for each sample", async (t) => {
  const samples = [
    { labels: {}, value: 0 },
    { labels: { network: "net", range: "a-b" }, value: 2n ** 64n },
  ];

  t.equal(
    formatExposition([
      { name: "things", type: "gauge", help: "All things.", samples },
      { name: "nothing", type: "gauge", help: "Nothing.", samples: [] },
    ]),
    [
      "# HELP things All things.",
      "# TYPE things gauge",
      "things 0",
      'things{network="net",range="a-b"} 18446744073709551616',
      "",
    ].join("\n"),
  );
});

test("quotes, backslashes and line ends are escaped as the format asks", async (t) => {
  const samples = [{ labels: { data_dir: 'a"b\\c\nd' }, value: 1 }];

  t.equal(
    formatExposition([{ name: "x", type: "gauge", help: 'a"b\\c\nd', samples }]),
    '# HELP x a"b\\\\c\\nd\n# TYPE x gauge\nx{data_dir="a\\"b\\\\c\\nd"} 1\n',
  );
});
