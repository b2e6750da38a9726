/** One-sided: the true share is above the bound in at most one of twenty samples. */
const confidence = 0.95

/**
 * The exact (Clopper-Pearson) upper bound of a share of which a sample found `found` of `of`, in basis points. A share of a small
 * sample says little: 0 of 300 is at most 100 basis points, 0 of 1,000 at most 30.
 */
export function upperBoundBp(found: number, of: number): number {
  if (of === 0 || found >= of) return 10_000
  let low = found / of
  let high = 1
  // The probability of so few matches falls as the share rises.
  while (high - low > 1e-7) {
    const share = (low + high) / 2
    if (probabilityOfAtMost(found, of, share) > 1 - confidence) low = share
    else high = share
  }
  return Math.ceil(high * 10_000 - 1e-3)
}

/** Of a binomial distribution with a share above `found / of`: its terms fall towards zero, so a few of them are the sum. */
function probabilityOfAtMost(found: number, of: number, share: number): number {
  const odds = share / (1 - share)
  const logTerm =
    logFactorial(of) -
    logFactorial(found) -
    logFactorial(of - found) +
    found * Math.log(share) +
    (of - found) * Math.log1p(-share)
  let term = Math.exp(logTerm)
  let sum = term
  for (let k = found; k > 0 && term > sum * 1e-15; k -= 1) {
    term *= k / ((of - k + 1) * odds)
    sum += term
  }
  return sum
}

/** Stirling's series from 10 on, where its error is below 1e-10. */
function logFactorial(n: number): number {
  if (n < 10) {
    let product = 1
    for (let k = 2; k <= n; k += 1) product *= k
    return Math.log(product)
  }
  const series = 1 / (12 * n) - 1 / (360 * n ** 3) + 1 / (1260 * n ** 5)
  return n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + series
}
