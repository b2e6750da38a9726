import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { writeAuthored } from '../scripts/classifier/authored.ts'
import type { Metrics } from '../scripts/classifier/evaluate.ts'
import { cardFile, metricsFile } from '../scripts/classifier/files.ts'
import { fitHeads } from '../scripts/classifier/fit.ts'
import { holdBackBounds } from '../scripts/classifier/hold-back.ts'
import { listPairs } from '../scripts/classifier/heads.ts'
import { compileLexicon } from '../scripts/classifier/lexicon-files.ts'
import { createTextReader } from '../scripts/classifier/matrix.ts'
import { hashPhrase } from '../scripts/classifier/reading/lexicon.ts'
import { writeModelCard } from '../scripts/classifier/model-card.ts'
import { averagePrecision, averagePrecisionInterval, rocArea, verdictsAt } from '../scripts/classifier/metrics.ts'
import { withoutOverlap } from '../scripts/classifier/rows.ts'
import type { Row } from '../scripts/classifier/rows.ts'
import { countVocabulary } from '../scripts/classifier/vocabulary-count.ts'
import { digestOfSources } from '../scripts/languages/rows.ts'
import { loadLanguageModel, shippedModel } from '../src/adapters/classifiers/embedded/classifier.ts'
import { damp } from '../src/adapters/classifiers/embedded/damp.ts'
import { hashVersion, hashWord } from '../src/adapters/classifiers/embedded/hashing.ts'
import { loadKernel } from '../src/adapters/classifiers/embedded/kernel/load.ts'
import { decodeModel, encodeModel } from '../src/adapters/classifiers/embedded/model-file.ts'
import { heads } from '../src/adapters/classifiers/embedded/model.ts'
import { createTextScorer } from '../src/adapters/classifiers/embedded/text-scorer.ts'
import { perCategory } from '../src/domain/scan/classify/categories.ts'

const folder = (name: string): string => fileURLToPath(new URL(`../scripts/classifier/${name}`, import.meta.url))
const settings = { penalty: 1, iterations: 15, fewestTexts: 2, features: 3_000 }

const row = (text: string, label: number): Row => ({
  text,
  labels: { sexual: 0, hate: 0, harassment: label, 'self-harm': label, illicit: 0, 'sexual/minors': 0 },
  weight: 1,
  source: 'test',
})
const rows = ['one', 'two', 'three', 'four'].flatMap((word) => [
  row(`${word} of the red birds sings in the garden`, 1),
  row(`${word} of the blue boats sails on the lake`, 0),
])

function train(): Uint8Array {
  const lexicon = compileLexicon(folder('lexicons'))
  const vocabulary = countVocabulary(
    rows.map(({ text }) => text),
    lexicon.words,
  )
  const read = createTextReader(lexicon, vocabulary)
  const {
    features,
    weights,
    heads: fitted,
  } = fitHeads(
    rows.map((each) => ({ row: each, reading: read(each.text) })),
    lexicon.lists,
    settings,
  )
  const calibration = perCategory(() => ({ slope: 1, thresholds: { request: 0, response: 0 } }))
  const header = {
    version: 'test',
    hashVersion,
    lists: lexicon.lists,
    pairs: listPairs,
    heads: fitted,
    minors: { besideCue: 0, farFromCue: 0, abuse: 0 },
    calibration,
    holdBack: holdBackBounds,
  }
  return encodeModel({ header, features, weights, vocabulary, lexicon: lexicon.tables })
}

describe('training', () => {
  it('gives the same model, byte for byte, from the same data', () => assert.deepEqual(train(), train()))

  it('gives a model that recognises its training examples', () => {
    const score = createTextScorer(loadKernel(decodeModel(train())))
    const red = score('five of the red birds sings in the garden').harassment
    const blue = score('five of the blue boats sails on the lake').harassment
    assert.ok(red > 0 && blue < 0, `${red} ${blue}`)
  })

  it('gives heads that do not flag a text without a word of their lists', () => {
    const score = createTextScorer(loadKernel(decodeModel(train())))
    const named = score('five of the red birds, half dead, sings in the garden')['self-harm']
    const unnamed = score('five of the red birds, half asleep, sings in the garden')['self-harm']
    assert.ok(named > unnamed + 3, `${named} ${unnamed}`)
  })

  it('extracts the same features as the classifier', () => {
    const model = decodeModel(train())
    const read = createTextReader(compileLexicon(folder('lexicons')), model.vocabulary)
    const text = 'I want to die, said one of the red birds, and k1ll tim3 in the garden'
    const { words, grams, wordCount, gramCount, lists } = read(text)
    const head = model.header.heads['self-harm']
    const headIndex = heads.indexOf('self-harm')
    const weigh = (counts: ReadonlyMap<number, number>): number =>
      [...counts].reduce((sum, [hash, count]) => {
        const feature = model.features.indexOf(hash)
        return feature < 0 ? sum : sum + count * (model.weights[feature * heads.length + headIndex] ?? 0) * head.scale
      }, 0)
    const fromLists = head.lists.reduce((sum, weight, index) => sum + weight * damp(lists[index] ?? 0), 0)
    const expected = head.bias + weigh(words) / Math.sqrt(wordCount) + weigh(grams) / Math.sqrt(gramCount) + fromLists
    assert.ok(Math.abs(createTextScorer(loadKernel(model))(text)['self-harm'] - expected) < 1e-9)
  })

  it('drops rows that share a long run of words with an evaluation text', () => {
    const text = 'these are more than ten words that stand in a row in both texts'
    const kept = withoutOverlap(
      [row(`Quote: ${text.toUpperCase()}!`, 0), row('something else entirely', 0)],
      [{ text }],
    )
    assert.deepEqual(
      kept.map((each) => each.text),
      ['something else entirely'],
    )
  })
})

describe('word lists', () => {
  const hashOf = (phrase: string): number => hashPhrase(phrase.split(' ').map(hashWord))

  it('stand for all alternatives of a line, and a folder is one list', () => {
    const lists = mkdtempSync(join(tmpdir(), 'lists-'))
    mkdirSync(join(lists, 'crisis'))
    writeFileSync(join(lists, 'crisis', 'en.txt'), '# A comment.\nI (want|wish) [so] to die\nto die now\nsuicid*\n')
    writeFileSync(join(lists, 'crisis', 'zh.txt'), '我想死\n')
    writeFileSync(join(lists, 'you.txt'), 'you\n')
    const compiled = compileLexicon(lists)
    rmSync(lists, { recursive: true })
    assert.deepEqual(compiled.lists, ['crisis', 'you'])
    const expected = [
      'i want to die',
      'i want so to die',
      'i wish to die',
      'i wish so to die',
      'to die now',
      '我 想 死',
    ]
    assert.deepEqual(new Set(compiled.tables.phrases.keys()), new Set(expected.map(hashOf)))
    assert.deepEqual([...compiled.tables.stems.keys()], [hashWord('suicid')])
  })

  it('of languages leave out a phrase that contains another one', () => {
    const lists = mkdtempSync(join(tmpdir(), 'lists-'))
    mkdirSync(join(lists, 'crisis'))
    writeFileSync(join(lists, 'crisis', 'en.txt'), 'want [so much] to die\nto die\n')
    const { tables } = compileLexicon(lists)
    rmSync(lists, { recursive: true })
    assert.deepEqual([...tables.phrases.keys()], [hashOf('to die')])
  })
})

describe('authored examples', () => {
  it('are the same from the same seed, and leave no slot unfilled', () => {
    const first = writeAuthored(folder('authored'), 7)
    assert.deepEqual(first, writeAuthored(folder('authored'), 7))
    assert.deepEqual(
      first.filter(({ text }) => /\{\w+\}/.test(text) && !text.includes('=>')).map(({ text }) => text),
      [],
    )
  })
})

describe('quality metrics', () => {
  const judged = [0.9, 0.8, 0.7, 0.6].map((score, index) => ({ score, isPositive: index % 2 === 0 }))

  it('match the textbook definitions', () => {
    assert.equal(averagePrecision(judged), (1 + 2 / 3) / 2)
    assert.equal(rocArea(judged), 0.75)
    assert.deepEqual(verdictsAt(judged, 0.75), { recall: 0.5, precision: 0.5, falsePositiveRate: 0.5 })
  })

  it('have an interval that contains the average precision, and is narrower with more texts', () => {
    const widthOf = (times: number): number => {
      const many = Array.from({ length: times }, () => judged).flat()
      const { low, high } = averagePrecisionInterval(many)
      assert.ok(low < averagePrecision(many) && averagePrecision(many) < high, `${low} ${high}`)
      return high - low
    }
    assert.ok(widthOf(40) < widthOf(10) / 1.5)
  })

  it('have an interval without width where every positive scores above every negative', () => {
    const separate = Array.from({ length: 40 }, (_, at) => ({ score: 1 - at / 40, isPositive: at < 20 }))
    assert.deepEqual(averagePrecisionInterval(separate), { low: 1, high: 1 })
  })
})

describe('the shipped model', () => {
  const metrics: Metrics = JSON.parse(readFileSync(metricsFile, 'utf8'))
  const bytes = readFileSync(shippedModel)

  it('is the one that its metrics and its model card describe', () => {
    const { header, features, digest } = decodeModel(bytes)
    const { version } = header
    assert.deepEqual(metrics.model, { version, digest, bytes: bytes.byteLength, features: features.length })
    assert.equal(readFileSync(cardFile, 'utf8'), writeModelCard(metrics))
  })

  it('was measured with the encoder of this version, if with any', () => {
    const description = new URL('../packages/moderation-encoder/encoder.json', import.meta.url)
    if (metrics.withEncoder === undefined) return
    const { version, digest } = JSON.parse(readFileSync(description, 'utf8'))
    assert.deepEqual(metrics.withEncoder.encoder, { version, digest })
  })

  it('contains the current word lists', () => {
    const { lists, tables } = compileLexicon(folder('lexicons'))
    const { header, lexicon } = decodeModel(bytes)
    assert.deepEqual([header.lists, lexicon], [lists, tables])
  })

  it('has the current hold-back bounds', () => {
    assert.deepEqual(decodeModel(bytes).header.holdBack, holdBackBounds)
  })

  it('shows less of a violating answer than fixed hold-back, and delays a harmless one less', () => {
    const { 'by risk': byRisk, 'fixed, 32 characters': fixed } = metrics.holdBack
    for (const [category, shown] of Object.entries(byRisk?.shown ?? {})) {
      const before = fixed?.shown[category]
      // Their windows differ, so that a text close to the threshold may be denied by one of them only.
      assert.ok(before !== undefined && shown.denied >= before.denied - 2, category)
      assert.ok(shown.nothingShown >= before.nothingShown, category)
      assert.ok(shown.median <= before.median && shown.p90 <= before.p90, category)
    }
    assert.deepEqual(Object.keys(byRisk?.shown ?? {}), ['self-harm', 'sexual/minors', 'sexual'])
    // At 20 words a second, 36 characters are 300 ms.
    const { median = Infinity, p99 = Infinity } = byRisk?.delay['everyday answers'] ?? {}
    assert.ok(median <= 8 && p99 <= 36, `${median} ${p99}`)
  })

  it('is small, and meets its quality targets', () => {
    assert.ok(bytes.byteLength < 1_000_000)
    const least = { sexual: 0.9, hate: 0.62, 'self-harm': 0.55, harassment: 0.38 }
    for (const [category, precision] of Object.entries(least)) {
      assert.ok((metrics.quality[category]?.averagePrecision ?? 0) >= precision, category)
    }
    assert.ok((metrics.blocked['safe prompts that sound unsafe']?.['any'] ?? 1) < 0.02)
    assert.ok((metrics.heldOut['ordinary requests, templates held out']?.['any'] ?? 1) < 0.003)
  })
})

it('the shipped model for other languages was trained with the current authored texts', () => {
  assert.equal(loadLanguageModel().sources, digestOfSources())
})
