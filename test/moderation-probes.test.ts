/** The linear stage on the probes of `scripts/classifier/probes`: no group may fall below the count that it reached before. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { writeAuthored } from '../scripts/classifier/authored.ts'
import { readFloors, readProbes, runProbes } from '../scripts/classifier/probes.ts'
import { createJudge } from '../scripts/classifier/stages.ts'
import { loadModel } from '../src/adapters/classifiers/embedded/classifier.ts'

const languages = 'English German Spanish French Italian Portuguese Dutch Polish Russian Arabic Hindi Chinese Japanese'
const probes = readProbes()

describe('the linear classifier is right about as many probes as before:', async () => {
  const figures = await runProbes(createJudge(loadModel()))
  for (const [group, floor] of Object.entries(readFloors())) {
    it(group, () => {
      const { right = 0, texts = 0 } = figures[group] ?? {}
      assert.ok(right >= floor, `${right} of ${texts}, ${floor} before. \`npm run evaluate\` prints the table.`)
    })
  }
})

describe('the probes', () => {
  it('have eight statements and eight harmless sentences in thirteen languages', () => {
    for (const language of languages.split(' '))
      for (const kind of ['self-harm', 'harmless near words'])
        assert.equal(
          probes.find(({ name }) => name === `${kind}, ${language}`)?.texts.length,
          8,
          `${kind}, ${language}`,
        )
  })

  it('have a name of their own per group, no text twice in a group, and no slot unfilled', () => {
    assert.equal(new Set(probes.map(({ name }) => name)).size, probes.length)
    for (const { name, texts } of probes) {
      assert.equal(new Set(texts).size, texts.length, name)
      assert.ok(texts.length > 0 && !texts.some((text) => text.includes('{person}')), name)
    }
  })

  it('are not among the examples that the classifier is trained on, but for a few common sentences', () => {
    const folder = fileURLToPath(new URL('../scripts/classifier/authored', import.meta.url))
    const plain = (text: string): string =>
      text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, ' ')
        .trim()
    const trained = new Set(writeAuthored(folder, 7).map(({ text }) => plain(text)))
    const known = probes.flatMap(({ texts }) => texts.filter((text) => trained.has(plain(text))))
    assert.ok(known.length < 5, known.join('\n'))
  })
})
