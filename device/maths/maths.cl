// The driver's own mathematical functions, in one module.

#include "maths.h"

#include "exponentials.cl"
#include "errors.cl"
#include "logarithms.cl"
#include "powers.cl"
#include "trigonometry.cl"
