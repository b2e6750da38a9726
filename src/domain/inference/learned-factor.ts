/**
 * How the tokens that an upstream reports follow from those that the gateway's tokenizer counts, learned per model: a constant
 * for the template that the upstream puts around every request, and a factor for its vocabulary. Both are learned because
 * vendors change them without notice, and no public tokenizer tracks them.
 */
export type LearnedFactors = {
  /** The tokens that the upstream would report for a request with this count. */
  corrected(model: string, counted: number): number
  /** True if a new comparison is due: token counts for this model were requested, and the last sample is old enough. */
  wantsSample(model: string, nowMs: number): boolean
  learn(model: string, counted: number, reported: number): void
}

type Sample = { readonly counted: number; readonly reported: number }
type Fit = { readonly constant: number; readonly factor: number }

/** Medians of the last samples are used, so that one odd request does not change the fit. */
const maxSamples = 9
/** Fewer samples do not change the count. They are taken without a pause between them. */
const minSamples = 3
const sampleEveryMs = 30_000
const factors = { min: 0.25, max: 4 }
/** Templates with a long preamble, for example for tools, have some thousand tokens. */
const constants = { min: -50, max: 8_000 }
/** Two samples must differ by this many tokens to say something about the factor. */
const minSpread = 50
/** In a longer text the vocabulary makes more of a difference than the template. */
const longText = 500
/** Bounds the memory: a `prefix*` entry of the catalogue accepts any number of names. */
const maxModels = 1000

export function createLearnedFactors(): LearnedFactors {
  const samples = new Map<string, readonly Sample[]>()
  const sampledAtMs = new Map<string, number>()
  const countedFor = new Set<string>()
  return {
    corrected(model, counted) {
      if (countedFor.size >= maxModels) countedFor.clear()
      countedFor.add(model)
      const { constant, factor } = fitOf(samples.get(model) ?? [])
      return Math.max(1, Math.ceil(constant + counted * factor))
    },
    wantsSample(model, nowMs) {
      if (!countedFor.has(model)) return false
      const last = sampledAtMs.get(model)
      const isEnough = (samples.get(model)?.length ?? 0) >= minSamples
      if (isEnough && last !== undefined && nowMs - last < sampleEveryMs) return false
      if (sampledAtMs.size >= maxModels && last === undefined) sampledAtMs.clear()
      sampledAtMs.set(model, nowMs)
      return true
    },
    learn(model, counted, reported) {
      if (counted <= 0 || reported <= 0) return
      if (samples.size >= maxModels && !samples.has(model)) samples.clear()
      samples.set(model, [...(samples.get(model) ?? []), { counted, reported }].slice(-maxSamples))
    },
  }
}

/** The median slope over all pairs of samples (Theil and Sen), and the median of what is left. */
function fitOf(samples: readonly Sample[]): Fit {
  if (samples.length < minSamples) return { constant: 0, factor: 1 }
  const slopes = samples.flatMap((one, at) => samples.slice(at + 1).flatMap((other) => slopeOf(one, other)))
  const isLong = medianOf(samples.map(({ counted }) => counted)) >= longText
  // Samples of one length do not tell the constant from the factor.
  if (slopes.length < minSamples && isLong) {
    return {
      constant: 0,
      factor: within(factors, medianOf(samples.map(({ counted, reported }) => reported / counted))),
    }
  }
  const factor = slopes.length < minSamples ? 1 : within(factors, medianOf(slopes))
  const rest = samples.map(({ counted, reported }) => reported - counted * factor)
  return { constant: within(constants, medianOf(rest)), factor }
}

function slopeOf(one: Sample, other: Sample): number[] {
  const spread = one.counted - other.counted
  return Math.abs(spread) < minSpread ? [] : [(one.reported - other.reported) / spread]
}

const within = ({ min, max }: { readonly min: number; readonly max: number }, value: number): number =>
  Math.min(max, Math.max(min, value))

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
