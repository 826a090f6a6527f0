import { test } from "tap";
import { formatExposition } from "../../../src/operator/metrics/exposition.ts";

test("quotes, backslashes and line ends are escaped, and a metric without samples is left out", async (t) => {
  const samples = [{ labels: { data_dir: 'a"b\\c\nd' }, value: 1 }];

  t.equal(
    formatExposition([
      { name: "x", type: "gauge", help: 'a"b\\c\nd', samples },
      { name: "nothing", type: "gauge", help: "Nothing.", samples: [] },
    ]),
    '# HELP x a"b\\\\c\\nd\n# TYPE x gauge\nx{data_dir="a\\"b\\\\c\\nd"} 1\n',
  );
});
