"""Only values between half and one and a half times a record's value are sensitive (range paper, arXiv:2602.04124)."""

import formalsynth as fs

cycles = fs.load("fatigue").x
plain = fs.fit("lognormal", cycles, unit=1000)
fits = {
    "weighted": fs.fit("lognormal", cycles, fs.lipschitz_weights(plain), unit=1000),
    "range-averaged": fs.range_averaged(plain, a=0.5, b=1.5),
}
for name, fit in fits.items():
    distance = fs.utility(cycles, fs.synthesize(fit)[0])["ecdf_max"]
    print(f"{name}: epsilon {fit.epsilon:.1f}, {fit.guarantee}; distance {distance:.2f}")
