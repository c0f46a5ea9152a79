// Special functions of one double, by power series where their terms have one sign or are few, asymptotic series for
// large arguments, and Newton steps for inverses. Relative error around 1e-13 away from zeros.
#pragma once

#include <math.h>
#include <stdint.h>

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace special {

// Hurwitz zeta, sum of (q + k)^-x over k >= 0, by Euler-Maclaurin; as torch.special.zeta outside of x > 1.
double zeta(double x, double q);
double digamma(double x);
// n-th derivative of digamma.
double polygamma(int64_t n, double x);
double erfinv(double y);
// exp(x^2) erfc(x)
double erfcx(double x);
double ndtri(double p);
double log_ndtr(double x);
// Modified Bessel functions of order 0 or 1, times e^-|x|.
double bessel_i_scaled(int order, double x);
// e^x K_order(x)
double bessel_k_scaled(int order, double x);

}  // namespace special
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
