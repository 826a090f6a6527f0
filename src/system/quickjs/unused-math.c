/*
 * The programs do no trigonometry, and the engine is not built without it. These stand in for the C library's functions,
 * whose variants for each kind of processor would be a tenth of the executable; engine.c removes what calls them.
 */

#include <math.h>
#include <stdlib.h>

double sin(double x) { (void)x, abort(); }
double cos(double x) { (void)x, abort(); }
double tan(double x) { (void)x, abort(); }
double asin(double x) { (void)x, abort(); }
double acos(double x) { (void)x, abort(); }
double atan(double x) { (void)x, abort(); }
double atan2(double y, double x) { (void)y, (void)x, abort(); }
