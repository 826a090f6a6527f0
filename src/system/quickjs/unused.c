/*
 * What the libraries would bring along, and nothing here calls. The programs do no trigonometry, and the engine is not
 * built without it: the C library's variants for each kind of processor would be a tenth of the executable; engine.c
 * removes what calls them. The C library ends threads by unwinding their stacks, as for an exception of C++: here are none.
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

/* Weak: where the compiler's library has more to do, it brings its own. */
void _Unwind_Resume(void *exception);
__attribute__((weak)) void _Unwind_Resume(void *exception) { (void)exception, abort(); }
int __gcc_personality_v0(void);
__attribute__((weak)) int __gcc_personality_v0(void) { abort(); }
