import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { tagsOfText, textOfTags } from './tags.ts'

it('writes tags as one text in the order of their names', () => {
  assert.equal(textOfTags({ team: 'red', env: 'prod' }), 'env=prod,team=red')
  assert.equal(textOfTags({}), '')
})

it('reads from the text what was written, whatever the values are', () => {
  const name = fc.constantFrom('team', 'env', 'cost-center', 'a_1')
  const value = fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[%,=2C5]{1,8}$/))
  fc.assert(
    fc.property(fc.dictionary(name, value), (tags) => assert.deepEqual(tagsOfText(textOfTags(tags)), { ...tags })),
  )
})
