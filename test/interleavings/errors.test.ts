// test: own process, slow
/** Every order of calls of which some meet errors, or the files of the lock are removed. */

import { testSearches } from "./search-tests.ts";

testSearches(({ trouble }) => trouble !== "nothing" && trouble !== "stops");
