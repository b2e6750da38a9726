/** Reads a text in normal form once, in pushes of any size: tokens, words, pairs of neighbours, phrases, lists, windows. */
import { Table, findSlot, findWeights, hashNext, mayHave } from './table'
import { Entry, entryOf, features, scratch, sumsOf } from './book'
import {
  State, bucketWords, decidedAt, headCount, maxTail, pairBitsAt, pairHashesAt, pairSlotsAt, recentHashesAt, recentListsAt, rowBytes, rowOf,
  tailAt, tokenSlots, tokensAt,
} from './state'
import { categoryScores, columns, finishBucket, firstList, listCount, look } from './windows'

export { features, listWords, listStems, phraseEnds, misspellings, entries, slots, scratch } from './book'
export {
  columns, listCount, heads, windowLengths, damped, besideCue, farFromCue, sufficientAbuse, explicitColumn, clinicalColumn,
  suggestiveColumn, plainAgeColumn, likelyAgeColumn, weakAgeColumn, protectionColumn, explicitPairs, likelyPairs, categoryScores, look,
  headWindows, finish,
} from './windows'
export { stateBytes } from './state'

/** Writes the words that single letters spell to `scratch`, each after its length. Returns their number. */
// @ts-ignore: a decorator of AssemblyScript
@external('words', 'segment')
declare function segment(letters: usize, count: i32): i32

/** Set by `load.ts`. */
export let phrases = changetype<Table>(0)
/** Bit masks of the first and the second list of each pair of lists. */
export let pairFirsts: usize = 0
export let pairSeconds: usize = 0

/** Most characters of one push. */
export const maxPush: i32 = 8_192
/** Characters of a push: bytes of ASCII here, or 16-bit characters in normal form at `text`. */
export const ascii: usize = memory.data(8_192 + 32, 16)
const tailAndText: usize = memory.data(2 * (408 + 8_192) + 64, 16)
export const text: usize = tailAndText + 2 * maxTail
/**
 * Positions of the places that the last push passed, and per place the highest scores so far. Two places are at least 24
 * characters apart, so that a push passes fewer than 512.
 */
export const places: usize = memory.data(4 * 512, 4)
export const placeScores: usize = memory.data(48 * 512, 8)
let placeCount: i32 = 0
const placeEveryWords: i32 = 24
const placeCharacters: i32 = 128

export function allocate(bytes: i32): usize {
  return heap.alloc(bytes)
}

/** Starts a text. Decisions are made at places up to `decidesTo`. */
export function begin(state: State, capacity: i32, decidesTo: i32): void {
  memory.fill(changetype<usize>(state), 0, decidedAt)
  state.bucketMask = capacity - 1
  state.decidesTo = decidesTo
  for (let category = 0; category < headCount; category++) {
    store<f64>(changetype<usize>(state) + decidedAt + (category << 3), -Infinity)
  }
}

export function setDecidesTo(state: State, position: i32): void {
  state.decidesTo = position
}

/** Copies ASCII to `text`, in lower case. */
function widen(length: i32): void {
  for (let at = 0; at < length; at += 16) {
    const bytes = v128.load(ascii + at)
    const isUpper = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(65)), i8x16.splat(26))
    const lower = v128.or(bytes, v128.and(isUpper, i8x16.splat(32)))
    v128.store(text + (at << 1), i16x8.extend_low_i8x16_u(lower))
    v128.store(text + (at << 1), i16x8.extend_high_i8x16_u(lower), 16)
  }
}

/** Reads `length` characters at `ascii`. Returns the number of places passed. */
export function readAscii(state: State, length: i32): i32 {
  widen(length)
  return read(state, length, false)
}

/** Reads `length` characters at `text`. With `isEnd` the text ends there, otherwise an unfinished word waits. */
export function read(state: State, length: i32, isEnd: bool): i32 {
  placeCount = 0
  const start = text - (<usize>state.tailLength << 1)
  memory.copy(start, changetype<usize>(state) + tailAt, state.tailLength << 1)
  const end = text + (<usize>length << 1)
  store<u64>(end, 0)
  const base = state.position
  let at = start
  let placeAt = start + ((state.placePosition + placeCharacters - base) << 1)
  while (at < end) {
    const kind = kindOf(codeAt(at))
    let next = at + 2
    if (kind == letter || kind > joint) {
      next = readToken(state, at, end, isEnd)
      if (next == 0) break
    }
    at = next
    if (at < placeAt && state.words < state.placeWords + placeEveryWords) continue
    placeAt = at + (placeCharacters << 1)
    state.position = base + (<i32>(at - start) >> 1)
    passPlace(state)
  }
  state.position = base + (<i32>(at - start) >> 1)
  state.tailLength = <i32>(end - at) >> 1
  memory.copy(changetype<usize>(state) + tailAt, at, end - at)
  return placeCount
}

function passPlace(state: State): void {
  state.placePosition = state.position
  state.placeWords = state.words
  const place = placeCount++
  store<i32>(places + (place << 2), state.position)
  if (state.position > state.decidesTo) return
  look(state)
  const highest = changetype<usize>(state) + decidedAt
  for (let category = 0; category < headCount; category++) {
    const at = category << 3
    store<f64>(highest + at, max(load<f64>(highest + at), load<f64>(categoryScores + at)))
  }
  memory.copy(placeScores + <usize>place * 48, highest, 48)
}

const outside: i32 = 0
const letter: i32 = 1
const joint: i32 = 2
const dollar: i32 = 3
const ideograph: i32 = 4
// prettier-ignore
const kinds: usize = memory.data<u8>([
  0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
  0,2,0,0,3,0,0,2,0,0,2,2,0,0,0,0, 1,1,1,1,1,1,1,1,1,1,0,0,0,0,0,0,
  2,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
  0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1, 1,1,1,1,1,1,1,1,1,1,1,0,2,0,0,0,
])

/** Kana and Han characters are tokens of one letter. Every other non-ASCII character counts as a letter except punctuation, symbols and surrogates of emoji. */
// @ts-ignore: a decorator of AssemblyScript
@inline
function kindOf(code: i32): i32 {
  return code < 128 ? <i32>load<u8>(kinds + code) : kindBeyondAscii(code)
}

function kindBeyondAscii(code: i32): i32 {
  if (code < 0xc0 || (code >= 0x2000 && code < 0x2e80) || (code >= 0x3000 && code < 0x3040)) return outside
  if (code >= 0x3040 && code < 0xa000) return code < 0x3100 || code >= 0x3400 ? ideograph : letter
  return code < 0xd800 || code >= 0xf900 ? letter : outside
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function codeAt(at: usize): i32 {
  return <i32>load<u16>(at)
}

const longestToken: usize = 64 // bytes
const longestSpaced: usize = 800 // bytes

/** Reads the token at `at`. Returns where it ends, or 0 if that depends on text after `end`. */
function readToken(state: State, at: usize, end: usize, isEnd: bool): usize {
  if (codeAt(at) == 36) {
    if (at + 2 >= end && !isEnd) return 0
    if (kindOf(codeAt(at + 2)) != letter) return at + 2
  }
  const isOne = kindOf(codeAt(at)) == ideograph
  const next = isOne ? endOfIdeograph(at, end, isEnd) : endOfToken(at, end, isEnd)
  if (next == 0) return 0
  if (next == at + 2 && !isOne) {
    const isSpelling = state.words > 0 && state.spelledWords == state.words
    const spacedEnd = endOfSpacedLetters(at, end, isEnd, isSpelling ? 4 : 8)
    if (spacedEnd == 0) return 0
    if (spacedEnd > next) readSpacedLetters(state, at, spacedEnd)
    else visit(state, entryOf(at, 1))
    if (isSpelling || spacedEnd > next) state.spelledWords = state.words
    return spacedEnd
  }
  visit(state, entryOf(at, <i32>(next - at) >> 1))
  return next
}

/** A letter and its voicing mark. */
function endOfIdeograph(at: usize, end: usize, isEnd: bool): usize {
  if (at + 2 >= end && !isEnd) return 0
  const mark = codeAt(at + 2)
  return mark == 0x3099 || mark == 0x309a ? at + 4 : at + 2
}

function endOfToken(at: usize, end: usize, isEnd: bool): usize {
  const last = min(end, at + longestToken)
  let next = at + 2
  while (next < last) {
    const plain = countPlain(next)
    next += <usize>plain << 1
    if (plain == 8 || next >= last) continue
    const code = codeAt(next)
    const kind = kindOf(code)
    if (kind == outside || kind == ideograph) return next
    if (kind == joint) {
      if (next + 2 >= end && !isEnd) return 0
      const after = codeAt(next + 2)
      if (kindOf(after) != letter && after != code) return next
    }
    next += 2
  }
  return last == end && last < at + longestToken && !isEnd ? 0 : last
}

/** How many of the next eight characters, before any other, are letters of a to z and digits. */
// @ts-ignore: a decorator of AssemblyScript
@inline
function countPlain(at: usize): i32 {
  const eight = v128.load(at)
  const isLetter = i16x8.lt_u(i16x8.sub(eight, i16x8.splat(97)), i16x8.splat(26))
  const isDigit = i16x8.lt_u(i16x8.sub(eight, i16x8.splat(48)), i16x8.splat(10))
  return ctz(~i16x8.bitmask(v128.or(isLetter, isDigit)) | 0x100)
}

/**
 * End of a run of single letters with the same separator, at least `fewest` bytes before its last letter; `at + 2` if there is none, 0
 * if it is not known. An apostrophe counts as a letter.
 */
function endOfSpacedLetters(start: usize, end: usize, isEnd: bool, fewest: usize): usize {
  const separator = codeAt(start + 2)
  let at = start
  while (at - start < longestSpaced) {
    if (at + 2 >= end && !isEnd) return 0
    if (codeAt(at + 2) != separator) break
    if (at + 4 >= end && !isEnd) return 0
    if (kindOf(codeAt(at + 4)) != letter && codeAt(at + 4) != 39) break
    if (at + 6 >= end && !isEnd) return 0
    if (kindOf(codeAt(at + 6)) == letter) break
    at += 4
  }
  return at - start >= fewest ? at + 2 : start + 2
}

const letters: usize = memory.data(512)

function readSpacedLetters(state: State, start: usize, end: usize): void {
  let count = 0
  for (let at = start; at < end; at += 4) store<u16>(letters + (count++ << 1), <u16>codeAt(at))
  const words = segment(letters, count)
  // Learning a word overwrites `scratch`, so that the words are moved away first.
  memory.copy(spelled, scratch, 1024)
  let at = spelled
  for (let word = 0; word < words; word++) {
    const length = codeAt(at)
    at += 2
    visit(state, entryOf(at, length))
    at += <usize>length << 1
  }
}

const spelled: usize = memory.data(1024 + 16, 16)

/** Adds a word to the row of its bucket. Within a bucket each token and each pair of neighbours counts once. */
function visit(state: State, word: Entry): void {
  if (state.bucketLeft == 0) startBucket(state)
  state.bucketLeft -= 1
  const row = rowOf(state, state.buckets - 1)
  const position = state.words
  const isNew = countsToken(state, word.token)
  if (isNew) addSums(row, sumsOf(word))
  const recentHashes = changetype<usize>(state) + recentHashesAt
  const recentLists = changetype<usize>(state) + recentListsAt
  if (position > 0) visitPair(state, row, hashNext(load<i32>(recentHashes + (((position - 1) & 7) << 2)), word.hash))
  store<i32>(recentHashes + ((position & 7) << 2), word.hash)
  const phrased = word.phraseLengths == 0 ? 0 : phraseLists(word, position, recentHashes)
  store<i32>(recentLists + ((position & 7) << 2), word.lists | phrased)
  const hits = isNew ? word.lists | phrased : phrased
  if (hits != 0) addLists(row, hits, position, recentLists)
  state.words = position + 1
}

function startBucket(state: State): void {
  if (state.buckets > 0) finishBucket(state)
  memory.fill(rowOf(state, state.buckets), 0, rowBytes)
  memory.fill(changetype<usize>(state) + tokensAt, 0, tokenSlots << 3)
  memory.fill(changetype<usize>(state) + pairBitsAt, 0, 128)
  state.pairs = 0
  state.bucketLeft = bucketWords
  state.buckets += 1
}

/** True if the token is new in this bucket. */
function countsToken(state: State, token: u64): bool {
  const tokens = changetype<usize>(state) + tokensAt
  const wanted = token | 1 // 0 is a free slot
  let at = tokens + ((<i32>(token >> 40) & (tokenSlots - 1)) << 3)
  while (true) {
    const found = load<u64>(at)
    if (found == wanted) return false
    if (found == 0) break
    at = at + 8 == tokens + (tokenSlots << 3) ? tokens : at + 8
  }
  store<u64>(at, wanted)
  return true
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function addSums(row: usize, sums: usize): void {
  for (let four = 0; four < 4; four++) {
    const more = v128.load_ext<i16>(sums + (four << 3))
    v128.store(row + (four << 4), i32x4.add(v128.load(row + (four << 4)), more))
  }
}

/**
 * True if the pair is new in this bucket. The trainer's memory of pairs is a table of 1,024 slots in which a pair overwrites another;
 * here it is one bit per slot, and a list of the slots in use.
 */
function countsPair(state: State, hash: i32): bool {
  const slot = hash & 1023
  const hashes = changetype<usize>(state) + pairHashesAt
  const bits = changetype<usize>(state) + pairBitsAt + ((slot >> 5) << 2)
  const used = load<i32>(bits)
  if ((used & (1 << (slot & 31))) != 0) {
    const index = pairIndex(state, slot)
    if (load<i32>(hashes + (index << 2)) == hash) return false
    store<i32>(hashes + (index << 2), hash)
    return true
  }
  store<i32>(bits, used | (1 << (slot & 31)))
  store<i16>(changetype<usize>(state) + pairSlotsAt + (state.pairs << 1), <i16>slot)
  store<i32>(hashes + (state.pairs << 2), hash)
  state.pairs += 1
  return true
}

function pairIndex(state: State, slot: i32): i32 {
  const slots = changetype<usize>(state) + pairSlotsAt
  const wanted = i16x8.splat(<i16>slot)
  let at = 0
  while (true) {
    const found = i16x8.bitmask(i16x8.eq(v128.load(slots + (at << 1)), wanted))
    if (found != 0) return at + ctz(found)
    at += 8
  }
}

function visitPair(state: State, row: usize, hash: i32): void {
  if (!countsPair(state, hash)) return
  store<i32>(row, load<i32>(row, 48) + 1, 48)
  if (!mayHave(features, hash)) return
  const eight = findWeights(features, hash)
  v128.store(row, i32x4.add(v128.load(row), i32x4.extend_low_i16x8_s(eight)))
  v128.store(row, i32x4.add(v128.load(row, 16), i32x4.extend_high_i16x8_s(eight)), 16)
}

function phraseLists(word: Entry, position: i32, recentHashes: usize): i32 {
  let hits = 0
  let phrase = word.phraseHash
  for (let length = 2; length <= min(8, position + 1); length++) {
    if (word.phraseLengths >> length == 0) break
    phrase = hashNext(phrase, load<i32>(recentHashes + (((position - length + 1) & 7) << 2)))
    if ((word.phraseLengths & (1 << length)) != 0 && mayHave(phrases, phrase)) hits |= findSlot(phrases, phrase)
  }
  return hits
}

function addLists(row: usize, hits: i32, position: i32, recentLists: usize): void {
  let recent = 0
  for (let back = 1; back <= min(6, position); back++) recent |= load<i32>(recentLists + (((position - back) & 7) << 2))
  for (let rest = hits; rest != 0; rest &= rest - 1) addOne(row, firstList + ctz(rest))
  if (recent != 0) addListPairs(row + ((firstList + listCount) << 2), i32x4.splat(hits), i32x4.splat(recent))
}

/** Adds one to each pair of lists of which one is hit here and the other was hit recently, four pairs at a time. */
function addListPairs(row: usize, hits: v128, recent: v128): void {
  const none = i32x4.splat(0)
  const end = (columns - firstList - listCount) << 2
  for (let at = 0; at < end; at += 16) {
    const first = v128.load(pairFirsts + at)
    const second = v128.load(pairSeconds + at)
    const ifFirst = i32x4.ne(v128.and(recent, second), none)
    const otherwise = v128.and(i32x4.ne(v128.and(hits, second), none), i32x4.ne(v128.and(recent, first), none))
    const meets = v128.bitselect(ifFirst, otherwise, i32x4.ne(v128.and(hits, first), none))
    v128.store(row + at, i32x4.sub(v128.load(row + at), meets))
  }
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function addOne(row: usize, column: i32): void {
  store<i32>(row + (column << 2), load<i32>(row + (column << 2)) + 1)
}
