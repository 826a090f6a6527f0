// test: own process, slow
/** Every order of calls when some meet errors, or when the files of the lock are removed. */

import { testSearches } from "./search-tests.ts";

testSearches(({ trouble }) => trouble !== "nothing" && trouble !== "stops");
