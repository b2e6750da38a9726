import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { loadModel } from './classifier.ts'
import { commonMisspellings, disguisedPhrases, listMisspellings } from './misspellings.ts'
import { createVocabulary, unmask } from './unmask.ts'

const vocabulary = createVocabulary(loadModel().vocabulary)
const misspellings = listMisspellings()

/** Names, and words of other languages that are a letter or two away from an English word of the lists. */
const harmless =
  `aaron abdul adele ahmed alain alessandra alexei alice alina amara amina anders andrea anita annika antoine arjun astrid
  beatriz bjorn bruno camila carlos chiara chloe dagmar dalia david deirdre diego dieter dmitri edda eduardo elena elif emeka emil enzo
  esther fatima felix fiona francesca freya gabriel giorgio greta gunnar hamza hanna haruki hassan heidi helga hugo ibrahim ingrid irina
  isabella ivan jamal javier jelena johan jorge kaito karin katarzyna keiko khalid kilian killian kofi lars leif lena leon levi liam
  lidia lila livia loeser louis lucia luis magnus malik maren marion marius mateo matteo mei mika milan miriam moran nadia naomi nikolai
  noah nobel olga oliver omar oskar pablo paula pedro petra pierre priya rafael rania rosa sakura samir sasha selma sergei sigrid sofia
  stefan sven sylvia tariq tomas ulrich uma vera viktor wanda wendell yara yusuf zoe
  leben lebt lieben liebe leid leiden hatte hatten hat haben wollen wunsch wach wecken tot tod toten selbst hand bleiben blieb gehen
  liefde leven lief haat doden dood wakker weken bloed buren zelf nooit morgen vida vive vivir morir muerte edad nada nadie nunca mejor
  sin vivre vie mort jamais mieux seul viver morte matar melhor sozinho vivere morire meglio solo zycie smierc nigdy lepiej`.split(
    /\s+/,
  )

describe('misspellings', () => {
  it('are no words of the vocabulary, except a few that everybody writes wrong', () => {
    for (const [token, word] of vocabulary.misspellings) {
      assert.ok(vocabulary.rank(token) < 0 || commonMisspellings.has(token), token)
      assert.ok(vocabulary.rank(word) >= 0, word)
    }
    assert.ok(vocabulary.misspellings.size > 500)
  })

  it('are no names, and no words of other languages', () => {
    assert.deepEqual(
      harmless.filter((word) => misspellings.has(word)),
      [],
    )
  })

  it('change a plain token only to a word that they list', () => {
    const letters = fc.constantFrom(...'adefghiklmnostuvwy')
    fc.assert(
      fc.property(fc.string({ unit: letters, minLength: 1, maxLength: 10 }), (token) => {
        fc.pre(!/(.)\1\1/.test(token))
        assert.equal(unmask(token, vocabulary), vocabulary.misspellings.get(token) ?? token)
      }),
    )
  })
})

describe('disguised phrases', () => {
  it('are without vowels, or backwards, with the words that are known behind a misspelling', () => {
    assert.deepEqual(disguisedPhrases('want to die', misspellings), [
      'wnt t d',
      'want t d',
      'tnaw ot eid',
      'want ot eid',
      'eid ot tnaw',
      'eid ot want',
    ])
  })

  it('are left out where few letters are left', () => {
    assert.deepEqual(disguisedPhrases('go die', misspellings), ['og eid', 'og eid', 'eid og', 'eid og'])
  })
})
