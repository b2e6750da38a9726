export type Quantiles = { readonly p50Ms: number; readonly p99Ms: number }

export function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}
