/**
 * The ratio between the tokens that an upstream reports and those that the gateway's tokenizer counts, learned per model.
 * It is learned because vendors change their vocabularies without notice, and no public tokenizer tracks them.
 */
export type LearnedFactors = {
  of(model: string): number
  /** True if a new comparison is due: token counts for this model were requested, and the last sample is old enough. */
  wantsSample(model: string, nowMs: number): boolean
  learn(model: string, counted: number, reported: number): void
}

/** The factor is the median of the last samples, so that one odd request does not change it. */
const maxSamples = 9
/** Fewer samples do not change the count. */
const minSamples = 3
const sampleEveryMs = 30_000
const bounds = { min: 0.25, max: 4 }
/** Shorter texts are ignored, because the vendor's fixed framing tokens would distort their ratio. */
const minCounted = 50
/** Bounds the memory: a `prefix*` entry of the catalogue accepts any number of names. */
const maxModels = 1000

export function createLearnedFactors(): LearnedFactors {
  const samples = new Map<string, number[]>()
  const sampledAtMs = new Map<string, number>()
  const countedFor = new Set<string>()
  return {
    of(model) {
      if (countedFor.size >= maxModels) countedFor.clear()
      countedFor.add(model)
      return medianOf(samples.get(model) ?? [])
    },
    wantsSample(model, nowMs) {
      if (!countedFor.has(model)) return false
      const last = sampledAtMs.get(model)
      if (last !== undefined && nowMs - last < sampleEveryMs) return false
      sampledAtMs.set(model, nowMs)
      return true
    },
    learn(model, counted, reported) {
      if (counted < minCounted || reported <= 0) return
      const ratio = Math.min(bounds.max, Math.max(bounds.min, reported / counted))
      if (samples.size >= maxModels && !samples.has(model)) samples.clear()
      samples.set(model, [...(samples.get(model) ?? []), ratio].slice(-maxSamples))
    },
  }
}

function medianOf(ratios: readonly number[]): number {
  if (ratios.length < minSamples) return 1
  const sorted = ratios.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 1
}
