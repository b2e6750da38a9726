/** Loads the kernel and writes a model into its memory. The kernel reads texts; see `README.md` in this folder. */
import { readFileSync } from 'node:fs'
import { damp } from '../damp.ts'
import { fillBits, fillTable } from '../feature-table.ts'
import { hashWord } from '../hashing.ts'
import { createVocabulary, segment, unmask, type Vocabulary } from '../unmask.ts'
import { heads, type ClassifierModel, type HeadHeader, type ModelHeader } from '../model.ts'

/** The part of the WebAssembly API in use; the types of Node lack it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

export const kernelFile = new URL('./kernel.wasm', import.meta.url)

export type Address = number

/** The functions of `kernel.as`. A state is the address of a block of `stateBytes`. */
type KernelFunctions = {
  readonly memory: { readonly buffer: ArrayBuffer }
  allocate(bytes: number): Address
  stateBytes(buckets: number): number
  begin(state: Address, buckets: number, decidesTo: number): void
  setDecidesTo(state: Address, position: number): void
  readAscii(state: Address, length: number): number
  read(state: Address, length: number, isEnd: number): number
  look(state: Address): void
  finish(state: Address): number
}

type KernelGlobals = Readonly<Record<string, { value: number }>>

export type Kernel = KernelFunctions & {
  /** Views of the memory. They are replaced when it grows. */
  readonly view: { bytes: Buffer; codes: Uint16Array; numbers: Int32Array; floats: Float64Array }
  /** Addresses of fixed buffers. */
  readonly ascii: Address
  readonly text: Address
  readonly decisionPoints: Address
  readonly decisionPointScores: Address
  readonly categoryScores: Address
  readonly headWindows: Address
  readonly maxPush: number
  readonly sufficientAbuse: number
  readonly vocabulary: Vocabulary
}

/** Limits of the kernel's memory layout. */
const maxColumns = 96
const maxWindow = 4
const maxEvidenceGroups = 3
const headBytes = 688
const bookEntries = 24_000 + 1
const bookSlots = 0x10000
const dampedCounts = 1_024

export function loadKernel(model: ClassifierModel): Kernel {
  assertFits(model.header)
  const vocabulary = createVocabulary(model.vocabulary)
  const view = {
    bytes: Buffer.alloc(0),
    codes: new Uint16Array(0),
    numbers: new Int32Array(0),
    floats: new Float64Array(0),
  }
  // Rare cases that are simpler in TypeScript.
  const { functions, globals } = instantiate({
    unmask: (token: Address, length: number) => writeWords([unmask(textAt(token, length), vocabulary)], false),
    segment: (letters: Address, count: number) => writeWords(segment(textAt(letters, count), vocabulary), true),
  })
  const scratch = addressOf(globals, 'scratch')
  const kernel: Kernel = {
    ...functions,
    allocate(bytes) {
      const address = functions.allocate(bytes)
      updateViews()
      return address
    },
    view,
    vocabulary,
    ascii: addressOf(globals, 'ascii'),
    text: addressOf(globals, 'text'),
    decisionPoints: addressOf(globals, 'places'),
    decisionPointScores: addressOf(globals, 'placeScores'),
    categoryScores: addressOf(globals, 'categoryScores'),
    headWindows: addressOf(globals, 'headWindows'),
    maxPush: addressOf(globals, 'maxPush'),
    sufficientAbuse: model.header.minors.abuse,
  }

  function updateViews(): void {
    const { buffer } = functions.memory
    view.bytes = Buffer.from(buffer)
    view.codes = new Uint16Array(buffer)
    view.numbers = new Int32Array(buffer)
    view.floats = new Float64Array(buffer)
  }

  function textAt(address: Address, length: number): string {
    return String.fromCharCode(...view.codes.subarray(address >> 1, (address >> 1) + length))
  }

  /** Returns the length of a single word, or the number of words, each written after its length. */
  function writeWords(list: readonly string[], withLengths: boolean): number {
    let at = scratch >> 1
    for (const word of list) {
      if (withLengths) view.codes[at++] = word.length
      for (let index = 0; index < word.length; index++) view.codes[at++] = word.charCodeAt(index)
    }
    return withLengths ? list.length : (list[0] ?? '').length
  }

  writeModel({ ...model, misspellings: Array.from(vocabulary.misspellings.keys(), hashWord) }, kernel, globals)
  return kernel
}

function instantiate(words: object): { functions: KernelFunctions; globals: KernelGlobals } {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(kernelFile)), { words })
  return { functions: exports as KernelFunctions, globals: exports as KernelGlobals }
}

const addressOf = (globals: KernelGlobals, name: string): Address => globalOf(globals, name).value

function globalOf(globals: KernelGlobals, name: string): KernelGlobals[string] {
  const global = globals[name]
  if (global === undefined) throw new Error(`The kernel lacks ${name}. Run scripts/build-kernel.ts.`)
  return global
}

function assertFits({ lists, pairs, heads: byHead }: ModelHeader): void {
  const fits = heads.every((head) => {
    const { window, evidence } = byHead[head]
    return (
      window >= 1 &&
      window <= maxWindow &&
      evidence.length <= maxEvidenceGroups &&
      evidence.every((group) => group.length > 0)
    )
  })
  if (!fits || lists.length > 31 || firstListColumn + lists.length + pairs.length > maxColumns)
    throw new Error('The moderation model does not fit the kernel.')
}

const firstListColumn = heads.length * 2 + 2

type WrittenModel = ClassifierModel & { readonly misspellings: readonly number[] }

function writeModel(model: WrittenModel, kernel: Kernel, globals: KernelGlobals): void {
  const { header, features, weights, lexicon, misspellings } = model
  const set = (name: string, value: number): void => {
    globalOf(globals, name).value = value
  }
  const put = (bytes: ArrayBufferView): Address => {
    const address = kernel.allocate(bytes.byteLength)
    kernel.view.bytes.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), address)
    return address
  }
  const putTable = (hashes: ArrayLike<number>, valueOf: (index: number) => number): Address => {
    const { slots, bits } = fillTable(hashes, valueOf)
    return put(Int32Array.of(put(slots), slots.length / 2 - 1, put(bits), bits.length * 32 - 1))
  }
  const putFeatures = (hashes: Uint32Array, bytes: Int8Array): Address => {
    const slots = fillFeatureSlots(hashes, bytes)
    const bits = fillBits(hashes)
    return put(Int32Array.of(put(slots), slots.length / 4 - 1, put(bits), bits.length * 32 - 1))
  }
  const putMasks = (masks: ReadonlyMap<number, number>): Address => {
    const known = [...masks].filter(([, mask]) => mask !== 0)
    return putTable(
      known.map(([hash]) => hash),
      (index) => known[index]?.[1] ?? 0,
    )
  }

  set('features', putFeatures(features, weights))
  set('listWords', putMasks(lexicon.words))
  set('listStems', putMasks(lexicon.stems))
  set('phrases', putMasks(lexicon.phrases))
  set('phraseEnds', putMasks(lexicon.phraseLengths))
  set(
    'misspellings',
    putTable(misspellings, () => 1),
  )
  set('entries', kernel.allocate(bookEntries * 128))
  set('slots', kernel.allocate(bookSlots * 2))
  const mask = (list: string): number => 1 << header.lists.indexOf(list)
  const putPairMasks = (masks: readonly number[]): Address => put(Int32Array.of(...masks, 0, 0, 0)) // read four at a time
  set('pairFirsts', putPairMasks(header.pairs.map(([first]) => mask(first))))
  set('pairSeconds', putPairMasks(header.pairs.map(([, second]) => mask(second))))
  set('columns', firstListColumn + header.lists.length + header.pairs.length)
  set('listCount', header.lists.length)
  set('heads', put(Buffer.concat(heads.map((head) => encodeHead(header.heads[head])))))
  set(
    'windowLengths',
    heads.reduce((lengths, head) => lengths | (1 << header.heads[head].window), 0),
  )
  set('damped', put(Float64Array.from({ length: dampedCounts }, (_, count) => damp(count))))
  set('besideCue', header.minors.besideCue)
  set('farFromCue', header.minors.farFromCue)
  set('sufficientAbuse', header.minors.abuse)
  for (const [name, list] of Object.entries(minorsColumns)) set(name, columnOf(header, list))
  const putPairs = (pairs: readonly number[]): Address => put(Int32Array.of(pairs.length, ...pairs))
  set('explicitPairs', putPairs(pairColumns(header, ['sexual-explicit'], 'minor-strong')))
  set('likelyPairs', putPairs(pairColumns(header, sexualLists, 'minor-likely')))
}

const sexualLists = ['sexual-explicit', 'sexual-clinical', 'sexual-suggestive']

const minorsColumns = {
  explicitColumn: 'sexual-explicit',
  clinicalColumn: 'sexual-clinical',
  suggestiveColumn: 'sexual-suggestive',
  plainAgeColumn: 'minor-strong',
  likelyAgeColumn: 'minor-likely',
  weakAgeColumn: 'minor-weak',
  protectionColumn: 'protection',
}

/** The column of a list. A list that the model lacks gets the last column, which is always 0. */
function columnOf({ lists }: ModelHeader, list: string): number {
  const index = lists.indexOf(list)
  return index < 0 ? maxColumns - 1 : firstListColumn + index
}

/** The columns of the pairs of one of the lists with another one. */
const pairColumns = ({ lists, pairs }: ModelHeader, firsts: readonly string[], second: string): readonly number[] =>
  pairs.flatMap((pair, index) =>
    firsts.includes(pair[0]) && pair[1] === second ? [firstListColumn + lists.length + index] : [],
  )

/** Slots of four numbers: a hash, 1 for a used slot, and the weights of the feature in eight bytes. */
function fillFeatureSlots(hashes: Uint32Array, weights: Int8Array): Int32Array {
  const size = 2 ** Math.ceil(Math.log2(hashes.length + 1))
  const slots = new Int32Array(size * 4)
  const bytes = new Int8Array(slots.buffer)
  for (let index = 0; index < hashes.length; index++) {
    const hash = hashes[index] ?? 0
    let slot = hash & (size - 1)
    while (slots[slot * 4 + 1] !== 0) slot = (slot + 1) & (size - 1)
    slots[slot * 4] = hash
    slots[slot * 4 + 1] = 1
    bytes.set(weights.subarray(index * heads.length, (index + 1) * heads.length), slot * 16 + 8)
  }
  return slots
}

function encodeHead({ bias, scale, window, evidence, lists }: HeadHeader): Uint8Array {
  const bytes = Buffer.alloc(headBytes)
  bytes.writeDoubleLE(bias, 0)
  bytes.writeDoubleLE(scale, 8)
  bytes.writeInt32LE(window, 16)
  for (const [at, group] of evidence.entries())
    bytes.writeInt32LE(
      group.reduce((mask, list) => mask | (1 << list), 0),
      20 + at * 4,
    )
  for (const [at, weight] of lists.entries()) bytes.writeDoubleLE(weight, 32 + at * 8)
  return bytes
}
