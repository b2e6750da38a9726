import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { perCategory } from '../../../domain/scan/classify/categories.ts'
import { hashVersion } from './hashing.ts'
import { decodeModel, encodeModel } from './model-file.ts'
import type { ClassifierModel } from './model.ts'

const head = { bias: -1.5, scale: 0.01, lists: [0.25], window: 2, evidence: [[0]] }
const model: Omit<ClassifierModel, 'digest'> = {
  header: {
    version: 'test',
    hashVersion,
    lists: ['crisis'],
    pairs: [],
    heads: { sexual: head, hate: head, harassment: head, 'self-harm': head, illicit: head, abuse: head },
    minors: { besideCue: -2, farFromCue: -1, abuse: 0 },
    calibration: perCategory(() => ({ slope: 1, thresholds: { request: 0, response: 1 } })),
    holdBack: {
      categories: perCategory(() => ({ elevatedFrom: -6, holdFrom: -3.5 })),
      keptBackCharacters: 64,
      openingWords: 4,
    },
  },
  features: Uint32Array.of(0, 1, 127, 128, 70_000, 0x7fffffff, 0xffffffff),
  weights: Int8Array.from({ length: 7 * 6 }, (_, at) => at - 20),
  vocabulary: Uint32Array.of(9, 0xffffffff, 3),
  lexicon: {
    words: new Map([[0xfffffff0, 1]]),
    stems: new Map([[7, 0x80000000]]),
    phrases: new Map(),
    phraseLengths: new Map([[1, 4]]),
  },
}

describe('a model file', () => {
  it('contains all of the model', () => {
    const { digest, ...decoded } = decodeModel(encodeModel(model))
    assert.deepEqual(decoded, model)
    assert.match(digest, /^[0-9a-f]{64}$/)
  })

  it('can be decoded at any memory offset', () => {
    const bytes = encodeModel(model)
    const shifted = new Uint8Array(bytes.byteLength + 3)
    shifted.set(bytes, 3)
    assert.deepEqual(decodeModel(shifted.subarray(3)).features, model.features)
  })

  it('is rejected if it is damaged or truncated', () => {
    const bytes = Uint8Array.from(encodeModel(model))
    for (const at of [0, 9, 40, bytes.length - 40, bytes.length - 1]) {
      const damaged = bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))
      assert.throws(() => decodeModel(damaged), /damaged/)
    }
    assert.throws(() => decodeModel(bytes.subarray(0, 100)), /damaged/)
    assert.throws(() => decodeModel(new Uint8Array(0)), /damaged/)
  })

  it('is rejected if it was made for another hashing version', () => {
    const other = { ...model, header: { ...model.header, hashVersion: hashVersion + 1 } }
    assert.throws(() => decodeModel(encodeModel(other)), /another hashing version/)
  })
})
