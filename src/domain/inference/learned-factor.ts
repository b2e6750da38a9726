/**
 * How many tokens a model's upstream counts for each one that our tokenizer counts, learned from what it reports:
 * vendors change their vocabularies without telling, and no public tokenizer follows.
 */
export type LearnedFactors = {
  of(model: string): number
  /** True when a new comparison is worth its cost: somebody counts for this model, and the last one is a while ago. */
  wantsSample(model: string, nowMs: number): boolean
  learn(model: string, counted: number, reported: number): void
}

const weight = 0.2
const sampleEveryMs = 30_000
const bounds = { least: 0.25, most: 4 }
/** A few tokens of framing would drown the ratio of a short text. */
const leastCounted = 50
/** Models of a `prefix*` entry come into being when asked for, under as many names as a caller can think of. */
const mostModels = 1000

export function createLearnedFactors(): LearnedFactors {
  const factors = new Map<string, number>()
  const sampledAtMs = new Map<string, number>()
  const countedFor = new Set<string>()
  return {
    of(model) {
      if (countedFor.size >= mostModels) countedFor.clear()
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
      if (counted < leastCounted || reported <= 0) return
      const ratio = Math.min(bounds.most, Math.max(bounds.least, reported / counted))
      const known = factors.get(model)
      factors.set(model, known === undefined ? ratio : known + weight * (ratio - known))
    },
  }
}
