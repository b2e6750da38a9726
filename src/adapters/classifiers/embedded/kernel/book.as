/**
 * The book of recently read tokens with the facts of their words. A plain new word is weighed here; the word behind an unusual
 * token comes from `unmask.ts`. When the book is full, it is emptied.
 */
import { Table, find, findWeights, hashNext, mayHave, mix, firstHash, prime } from './table'

/** Writes the word behind a token to `scratch`. Returns its length. */
// @ts-ignore: a decorator of AssemblyScript
@external('words', 'unmask')
declare function unmask(token: usize, length: i32): i32

/** Set by `load.ts`. */
export let features = changetype<Table>(0)
export let listWords = changetype<Table>(0)
export let listStems = changetype<Table>(0)
export let phraseEnds = changetype<Table>(0)
/** Plain tokens that `unmask.ts` knows as misspellings. */
export let misspellings = changetype<Table>(0)
/** `maxEntries + 1` entries; the first is for a token that finds no free slot. */
export let entries: usize = 0
export let slots: usize = 0

export const scratch: usize = memory.data(1024, 16)

@unmanaged
export class Entry {
  /** Identifies the token: two numbers are two tokens, also if the word behind them is the same. */
  token: u64
  /** Hash of the word behind the token. */
  hash: i32
  lists: i32
  phraseLengths: i32
  length: i32
  /** Hash of a phrase that ends with the word, without the words before it. */
  phraseHash: i32
  unused: i32
  // 32: sixteen numbers of 16 bits: per head the weight of the word, per head the sum of its n-grams, 1, the number of n-grams
  // 64: up to 32 characters of the token
}

const sumsAt: usize = 32
const charactersAt: usize = 64
const entryBytes: usize = 128
const maxEntries: i32 = 24_000
const slotMask: i32 = 0xffff
/** Bounds probing, so that crafted collisions cannot slow it down. */
const maxProbes: i32 = 16

let count: i32 = 0

// @ts-ignore: a decorator of AssemblyScript
@inline
export function sumsOf(entry: Entry): usize {
  return changetype<usize>(entry) + sumsAt
}

/** The entry of the token at `start`, of `length` characters. Valid until the next call. */
export function entryOf(start: usize, length: i32): Entry {
  const low = load<u64>(start) & maskOf(length)
  const high = load<u64>(start, 8) & maskOf(length - 4)
  let token = mixToken(mixToken(0x2545f4914f6cdd1d, low), high)
  for (let read = 8; read < length; read += 4) {
    token = mixToken(token, load<u64>(start + (read << 1)) & maskOf(length - read))
  }
  let slot = <i32>token & slotMask
  for (let probe = 0; probe < maxProbes; probe++) {
    const number = <i32>load<u16>(slots + (slot << 1))
    if (number == 0) return learn(take(slot), token, start, length)
    const entry = changetype<Entry>(entries + <usize>number * entryBytes)
    const characters = changetype<usize>(entry) + charactersAt
    if (entry.token == token && entry.length == length && load<u64>(characters) == low && load<u64>(characters, 8) == high) {
      if (length <= 8 || isSame(characters, start, length)) return entry
    }
    slot = (slot + 1) & slotMask
  }
  return learn(0, token, start, length)
}

/** Of four characters, the first `length`. */
// @ts-ignore: a decorator of AssemblyScript
@inline
function maskOf(length: i32): u64 {
  const some = (<u64>1 << (<u64>length << 4)) - 1
  return select<u64>(<u64>-1, select<u64>(0, some, length <= 0), length >= 4)
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function mixToken(token: u64, four: u64): u64 {
  const mixed = (token ^ four) * 0x9e3779b97f4a7c15
  return mixed ^ (mixed >> 29)
}

/** Takes the next entry for this slot. Returns its number. */
function take(slot: i32): i32 {
  if (count >= maxEntries) {
    memory.fill(slots, 0, (slotMask + 1) << 1)
    count = 0
  }
  count += 1
  store<u16>(slots + (slot << 1), <u16>count)
  return count
}

/** Compares characters, four at a time and then one by one. */
function isSame(first: usize, second: usize, length: i32): bool {
  let left = length
  for (; left >= 4; left -= 4) {
    if (load<u64>(first) != load<u64>(second)) return false
    first += 8
    second += 8
  }
  for (; left > 0; left--) {
    if (load<u16>(first) != load<u16>(second)) return false
    first += 2
    second += 2
  }
  return true
}

function learn(number: i32, token: u64, start: usize, length: i32): Entry {
  const entry = changetype<Entry>(entries + <usize>number * entryBytes)
  entry.token = token
  entry.length = length
  memory.fill(changetype<usize>(entry) + charactersAt, 0, 64)
  memory.copy(changetype<usize>(entry) + charactersAt, start, length << 1)
  if (isPlain(start, length) && find(misspellings, hashOf(start, length)) == 0) weigh(entry, start, length)
  else weigh(entry, scratch, unmask(start, length))
  return entry
}

/** Letters of a to z, no three the same in a row. */
function isPlain(start: usize, length: i32): bool {
  let last = 0
  let run = 0
  for (let at = start, end = start + (length << 1); at < end; at += 2) {
    const code = <i32>load<u16>(at)
    if (code < 97 || code > 122) return false
    run = code == last ? run + 1 : 1
    if (run == 3) return false
    last = code
  }
  return true
}

function hashOf(start: usize, length: i32): i32 {
  let hash = firstHash
  for (let at = start, end = start + (length << 1); at < end; at += 2) hash = (hash ^ <i32>load<u16>(at)) * prime
  return mix(hash)
}

function weigh(entry: Entry, word: usize, length: i32): void {
  const sums = sumsOf(entry)
  const end = word + (length << 1)
  let hash = firstHash
  let lists = 0
  for (let at = word, read = 1; at < end; at += 2, read++) {
    hash = (hash ^ <i32>load<u16>(at)) * prime
    if (read >= 3) lists |= find(listStems, mix(hash))
    // The word before `'s`, which ends in the next two characters.
    if (at + 6 == end && load<u16>(at, 2) == 39 && load<u16>(at, 4) == 115) lists |= find(listWords, mix(hash))
  }
  // A word that is nothing but `'s`.
  if (length == 2 && load<u16>(word) == 39 && load<u16>(word, 2) == 115) lists |= find(listWords, mix(firstHash))
  const whole = mix(hash)
  entry.hash = whole
  entry.phraseHash = hashNext(0, whole)
  entry.lists = lists | find(listWords, whole)
  entry.phraseLengths = find(phraseEnds, whole)
  v128.store(sums, weightsOf(whole))
  weighGrams(sums, word, length + 2)
}

/** The weights of a feature: eight numbers of 16 bits. */
// @ts-ignore: a decorator of AssemblyScript
@inline
function weightsOf(hash: i32): v128 {
  return mayHave(features, hash) ? findWeights(features, hash) : i16x8.splat(0)
}

/** Adds the n-grams of three to five characters of `<word>`; `length` includes the two borders. */
function weighGrams(sums: usize, word: usize, length: i32): void {
  let total = i16x8.splat(0)
  let grams = 0
  for (let start = 0; start + 3 <= length; start++) {
    let hash: i32 = 0x2f0b4c47
    const end = min(length, start + 5)
    for (let at = start; at < end; at++) {
      const code = at == 0 ? 60 : at == length - 1 ? 62 : <i32>load<u16>(word + ((at - 1) << 1))
      hash = (hash ^ code) * prime
      if (at - start < 2) continue
      grams += 1
      total = i16x8.add(total, weightsOf(mix(hash ^ (at - start))))
    }
  }
  v128.store(sums + 12, total)
  store<i16>(sums, 1, 24)
  store<i16>(sums, <i16>grams, 26)
  store<i32>(sums, 0, 28)
}
