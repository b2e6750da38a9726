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

const weight = 0.2
const sampleEveryMs = 30_000
const bounds = { min: 0.25, max: 4 }
/** Shorter texts are ignored, because the vendor's fixed framing tokens would distort their ratio. */
const minCounted = 50
/** Bounds the memory: a `prefix*` entry of the catalogue accepts any number of names. */
const maxModels = 1000

export function createLearnedFactors(): LearnedFactors {
  const factors = new Map<string, number>()
  const sampledAtMs = new Map<string, number>()
  const countedFor = new Set<string>()
  return {
    of(model) {
      if (countedFor.size >= maxModels) countedFor.clear()
      countedFor.add(model)
      return factors.get(model) ?? 1
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
      const known = factors.get(model)
      factors.set(model, known === undefined ? ratio : known + weight * (ratio - known))
    },
  }
}
