// test: own process, slow
/** Every order of calls of which one meets an error in another network, or errors without end. */

import { isOfErrors, isOfStops, testSearches } from "./search-tests.ts";

testSearches((row) => !isOfErrors(row) && !isOfStops(row));
