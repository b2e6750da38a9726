/** Scores of windows: sums over the rows of a few buckets. Every operation is in the order of the trainer's. */
import { State, headCount, keptRows, rowOf, ageCuesOf, sexualKindOf, scoreOf } from './state'

/** Set by `load.ts`. */
export let columns: i32 = 0
export let listCount: i32 = 0
/** One `Head` per head. */
export let heads: usize = 0
/** The lengths of windows that a head has, as a bit mask. */
export let windowLengths: i32 = 0
/** `log1p(count) / 2` for counts below 1,024. */
export let damped: usize = 0
export let besideCue: f64 = 0
export let farFromCue: f64 = 0
export let sufficientAbuse: f64 = 0
/** Columns of the lists that the category of minors is composed of. */
export let explicitColumn: i32 = 0
export let clinicalColumn: i32 = 0
export let suggestiveColumn: i32 = 0
export let plainAgeColumn: i32 = 0
export let likelyAgeColumn: i32 = 0
export let weakAgeColumn: i32 = 0
export let protectionColumn: i32 = 0
/** Columns of pairs, after their number: of a plain age and an explicit word, and of a likely age and a sexual word. */
export let explicitPairs: usize = 0
export let likelyPairs: usize = 0

@unmanaged
class Head {
  bias: f64
  scale: f64
  /** Buckets per window. */
  window: i32
  /** Bit masks of lists; 0 for none. A window needs a word of each. */
  evidence0: i32
  evidence1: i32
  evidence2: i32
  // 32: weights of the lists, then of the pairs
}

const headBytes: usize = 688
const weightsAt: usize = 32
export const firstList: i32 = 14
const wordsColumn: i32 = 12
const gramsColumn: i32 = 13
const scoreWithoutWords: f64 = -20
const withoutEvidence: f64 = 4

const isSexualKind: i32 = 1
const isThinKind: i32 = 2
const isProtectiveKind: i32 = 4
const isBesidePlainKind: i32 = 8
const isBesideLikelyKind: i32 = 16
const isSufficientKind: i32 = 32
const reach: i32 = 6
const withoutCue: f64 = 8
const thin: f64 = 1
const protective: f64 = 2
const likelyOnly: f64 = 1
const mostEvidence: f64 = 4
const plainCue: f64 = 2
const mostWithWeakCue: f64 = -0.5

const sum: usize = memory.data(384, 16)
const hits: usize = memory.data(96)
/** The scores of the last window, one per head. */
const windowScores: usize = memory.data(48, 8)
/** The result of `look` and `end`: one score per category. */
export const categoryScores: usize = memory.data(48, 8)

// @ts-ignore: a decorator of AssemblyScript
@inline
function headOf(head: i32): Head {
  return changetype<Head>(heads + <usize>head * headBytes)
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function sumOf(column: i32): i32 {
  return load<i32>(sum + (column << 2))
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function stepOf(length: i32): i32 {
  return max(1, length >> 1)
}

/** Sums the rows from `first` to `end`, lists the columns that have hits, and returns their number. */
function sumRows(state: State, first: i32, end: i32): i32 {
  let hitCount = 0
  for (let column = 0; column < columns; column += 4) {
    let four = v128.load(rowOf(state, first) + (column << 2))
    for (let bucket = first + 1; bucket < end; bucket++) {
      four = i32x4.add(four, v128.load(rowOf(state, bucket) + (column << 2)))
    }
    v128.store(sum + (column << 2), four)
    let found = i32x4.bitmask(i32x4.ne(four, i32x4.splat(0)))
    if (column < firstList) found = column == 12 ? found & 12 : 0
    for (; found != 0; found &= found - 1) store<u8>(hits + hitCount++, <u8>(column + ctz(found)))
  }
  return hitCount
}

/** Square roots of the counts of words and of n-grams in the window. */
let wordsRoot: f64 = 1
let gramsRoot: f64 = 1

function scoreHead(index: i32, hitCount: i32, present: i32): f64 {
  const head = headOf(index)
  let score = head.bias + (<f64>sumOf(index) / wordsRoot + <f64>sumOf(headCount + index) / gramsRoot) * head.scale
  for (let hit = 0; hit < hitCount; hit++) {
    const column = <i32>load<u8>(hits + hit)
    const weight = load<f64>(changetype<usize>(head) + weightsAt + (<usize>(column - firstList) << 3))
    if (weight != 0) score += weight * load<f64>(damped + (<usize>sumOf(column) << 3))
  }
  const lacks =
    (head.evidence0 != 0 && (present & head.evidence0) == 0) ||
    (head.evidence1 != 0 && (present & head.evidence1) == 0) ||
    (head.evidence2 != 0 && (present & head.evidence2) == 0)
  return lacks ? score - withoutEvidence : score
}

/** Scores the window for every head of this length into `windowScores`. Returns what the sexual head needs to know. */
function scoreWindow(state: State, length: i32, end: i32): i32 {
  const first = max(0, end - length)
  const hitCount = sumRows(state, first, end)
  let present = 0
  for (let hit = 0; hit < hitCount; hit++) {
    const list = <i32>load<u8>(hits + hit) - firstList
    if (list < listCount) present |= 1 << list
  }
  wordsRoot = sqrt(<f64>max(1, sumOf(wordsColumn)))
  gramsRoot = sqrt(<f64>max(1, sumOf(gramsColumn)))
  for (let head = 0; head < headCount; head++) {
    if (headOf(head).window == length) store<f64>(windowScores + (head << 3), scoreHead(head, hitCount, present))
  }
  return headOf(0).window == length ? sexualKind(state, first, end) : 0
}

function sexualKind(state: State, first: i32, end: i32): i32 {
  const isExplicit = sumOf(explicitColumn) > 0
  const clinical = sumOf(clinicalColumn)
  if (!isExplicit && clinical == 0 && sumOf(suggestiveColumn) < 2) return 0
  let kind = isSexualKind
  if (isBesidePlain(state, first, end)) kind |= isBesidePlainKind
  if (hasOne(likelyPairs)) kind |= isBesideLikelyKind
  if (hasOne(explicitPairs)) kind |= isSufficientKind
  if (isExplicit) return kind
  if (sumOf(protectionColumn) > 0) return kind | isProtectiveKind
  return clinical == 0 || mostInOneBucket(state, first, end) < 2 ? kind | isThinKind : kind
}

/** True if a bucket has a plain age and a sexual word. */
function isBesidePlain(state: State, first: i32, end: i32): bool {
  for (let bucket = first; bucket < end; bucket++) {
    const row = rowOf(state, bucket)
    if (load<i32>(row + (plainAgeColumn << 2)) == 0) continue
    const words = load<i32>(row + (explicitColumn << 2)) | load<i32>(row + (clinicalColumn << 2)) | load<i32>(row + (suggestiveColumn << 2))
    if (words != 0) return true
  }
  return false
}

function hasOne(pairs: usize): bool {
  for (let left = load<i32>(pairs); left > 0; left--) if (sumOf(load<i32>(pairs + (<usize>left << 2))) > 0) return true
  return false
}

function mostInOneBucket(state: State, first: i32, end: i32): i32 {
  let most = 0
  for (let bucket = first; bucket < end; bucket++) {
    const row = rowOf(state, bucket)
    most = max(most, load<i32>(row + (clinicalColumn << 2)) + load<i32>(row + (suggestiveColumn << 2)))
  }
  return most
}

/** The score of minors for a window of the sexual head. */
function scoreMinors(state: State, first: i32, end: i32, kind: i32, sexual: f64): f64 {
  const uncued = min<f64>(-1, sexual - besideCue - withoutCue)
  if (kind == 0) return uncued
  let plain = 0
  let weak = 0
  for (let bucket = max(0, first - reach), last = min(state.buckets, end + reach); bucket < last; bucket++) {
    const cues = ageCuesOf(state, bucket)
    plain += <i32>load<u8>(cues)
    weak += <i32>load<u8>(cues, 1)
  }
  if (plain + weak == 0) return uncued
  const isBesideLikely = (kind & isBesideLikelyKind) != 0
  const doubt = (kind & isProtectiveKind) != 0 ? protective : (kind & isThinKind) != 0 ? thin : 0
  let needed = farFromCue
  if ((kind & isBesidePlainKind) != 0) needed = min(needed, besideCue + doubt)
  else if (isBesideLikely) needed = min(needed, besideCue + likelyOnly + doubt)
  const evidence = ((kind & isSufficientKind) != 0 ? max(sexual, needed) : sexual) - needed
  if (plain == 0 && !isBesideLikely) return min(evidence, mostWithWeakCue)
  if (evidence < 0) return evidence
  return min(evidence, mostEvidence) + (plain > 0 ? plainCue + load<f64>(damped + (<usize>plain << 3)) : 0)
}

/** Keeps the evidence of age in the last bucket: plain words, and all others. */
function keepAgeCues(state: State): void {
  const row = rowOf(state, state.buckets - 1)
  const cues = ageCuesOf(state, state.buckets - 1)
  store<u8>(cues, <u8>load<i32>(row + (plainAgeColumn << 2)))
  store<u8>(cues, <u8>(load<i32>(row + (likelyAgeColumn << 2)) + load<i32>(row + (weakAgeColumn << 2))), 1)
}

/** Keeps the windows that end with the last bucket. Called when it is complete and another one begins. */
export function finishBucket(state: State): void {
  keepAgeCues(state)
  for (let length = 1; length <= keptRows; length++) {
    const first = state.buckets - length
    if (first < 0 || first % stepOf(length) != 0 || !isUsed(length)) continue
    keepWindow(state, length, first / stepOf(length))
  }
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function isUsed(length: i32): bool {
  return (windowLengths & (1 << length)) != 0
}

/** Scores the window that ends with the last bucket, and keeps it under this number. */
function keepWindow(state: State, length: i32, window: i32): void {
  const kind = scoreWindow(state, length, state.buckets)
  for (let head = 0; head < headCount; head++) {
    if (headOf(head).window == length) store<f64>(scoreOf(state, head, window), load<f64>(windowScores + (head << 3)))
  }
  if (headOf(0).window == length) store<u8>(sexualKindOf(state, window), <u8>kind)
}

/** Scores the windows that end with the last word into `categoryScores`. */
export function look(state: State): void {
  let minors = scoreWithoutWords
  if (state.buckets == 0) {
    for (let head = 0; head < headCount; head++) store<f64>(windowScores + (head << 3), scoreWithoutWords)
  } else {
    keepAgeCues(state)
    for (let length = 1; length <= keptRows; length++) {
      if (!isUsed(length)) continue
      const kind = scoreWindow(state, length, state.buckets)
      if (headOf(0).window != length) continue
      minors = scoreMinors(state, max(0, state.buckets - length), state.buckets, kind, load<f64>(windowScores))
    }
  }
  memory.copy(categoryScores, windowScores, 40)
  store<f64>(categoryScores, max(minors, load<f64>(windowScores, 40) - sufficientAbuse), 40)
}

/** Windows overlap by half; the last one ends with the text. */
function windowsOf(buckets: i32, length: i32): i32 {
  if (buckets <= length) return min(1, buckets)
  return (buckets - length + stepOf(length) - 1) / stepOf(length) + 1
}

/** After `finish`: per head the number of its windows and the address of their scores. */
export const headWindows: usize = memory.data(48, 4)

/** Keeps the last windows. Returns the score of minors by evidence of age, over all windows. */
export function finish(state: State): f64 {
  for (let head = 0; head < headCount; head++) {
    store<i32>(headWindows + (head << 3), windowsOf(state.buckets, headOf(head).window))
    store<i32>(headWindows + (head << 3), <i32>scoreOf(state, head, 0), 4)
  }
  let minors = scoreWithoutWords
  if (state.buckets == 0) return minors
  keepAgeCues(state)
  for (let length = 1; length <= keptRows; length++) {
    if (isUsed(length)) keepWindow(state, length, windowsOf(state.buckets, length) - 1)
  }
  const length = headOf(0).window
  const count = windowsOf(state.buckets, length)
  for (let window = 0; window < count; window++) {
    const end = window == count - 1 ? state.buckets : window * stepOf(length) + length
    const kind = <i32>load<u8>(sexualKindOf(state, window))
    minors = max(minors, scoreMinors(state, max(0, end - length), end, kind, load<f64>(scoreOf(state, 0, window))))
  }
  return minors
}
