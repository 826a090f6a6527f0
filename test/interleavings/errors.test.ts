// test: own process, slow
/** Every order of calls of which one meets an error, or the lock file is removed, in the usual network. */

import { isOfErrors, testSearches } from "./search-tests.ts";

testSearches(isOfErrors);
