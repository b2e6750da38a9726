import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { findPersonalData } from './find.ts'
import { countByKind, personalDataKinds } from './kinds.ts'

const Case = Type.Object(
  {
    title: Type.String({ minLength: 1 }),
    text: Type.String(),
    expected: Type.Partial(
      Type.Object(Object.fromEntries(personalDataKinds.map((kind) => [kind, Type.Array(Type.String())])), {
        additionalProperties: false,
      }),
    ),
  },
  { additionalProperties: false },
)
const cases = Value.Parse(
  Type.Array(Case),
  JSON.parse(readFileSync(new URL('../../cases/personal-data.json', import.meta.url), 'utf8')),
)

describe('personal data', () => {
  for (const { title, text, expected } of cases) {
    it(title, () => {
      const matches: Record<string, string[]> = {}
      for (const { kind, start, end } of findPersonalData(text)) (matches[kind] ??= []).push(text.slice(start, end))
      assert.deepEqual(matches, expected)
    })
  }

  it('is counted by kind', () => {
    assert.deepEqual(countByKind(findPersonalData('a@example.org, b@example.org, 10.0.0.1')), {
      email: 2,
      ip_address: 1,
    })
  })

  it('is found in linear time, whatever the text', () => {
    const hostile = [
      'a',
      '1',
      '1 ',
      'a.',
      'a@',
      'A1',
      'A ',
      '+1',
      '(1',
      '1.',
      'f:',
      '--',
      '-----BEGIN ',
      'eyJ',
      'my name is A ',
      '[EMAIL_',
    ]
    for (const fragment of hostile) {
      const text = fragment.repeat(Math.ceil(300_000 / fragment.length))
      assert.ok(findPersonalData(text).length <= text.length)
    }
  })
})
