import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readFilterText, resolveValue } from './filter-text.ts'
import { addingValue, filtersIn, filtersOf, readRequestSearch, switching } from './search.ts'

describe('a typed filter', () => {
  it('names a field, in short or as the API does, and a value', () => {
    assert.deepEqual(readFilterText('user:ben-1002').filters, [{ field: 'user_id', isNot: false, value: 'ben-1002' }])
    assert.deepEqual(readFilterText('api_key_id = key_1').filters, [
      { field: 'api_key_id', isNot: false, value: 'key_1' },
    ])
  })
  it('has quotes around a value with spaces, or is alone', () => {
    const filters = [{ field: 'policy_id', isNot: false, value: 'No code names' }]
    assert.deepEqual(readFilterText('policy:"No code names"').filters, filters)
    assert.deepEqual(readFilterText('policy:No code names').filters, filters)
  })
  it('excludes with a minus', () =>
    assert.deepEqual(readFilterText('-status:denied !model:gpt*').filters, [
      { field: 'status', isNot: true, value: 'denied' },
      { field: 'model', isNot: true, value: 'gpt*' },
    ]))
  it('can be followed by text, which is searched for', () => {
    const { filters, text } = readFilterText('model:gpt-5 "rate limit" exceeded')
    assert.deepEqual([filters.length, text], [1, 'rate limit exceeded'])
    assert.deepEqual(readFilterText('billing'), { filters: [], text: 'billing' })
  })
  it('with an unknown name is reported', () => assert.equal(readFilterText('colour:red x').unknownName, 'colour'))
})

describe('a typed name', () => {
  const options = [
    { value: 'pol_1', name: 'No code names' },
    { value: 'pol_2', name: 'No medical advice' },
    { value: 'pol_3', name: 'Payment data' },
  ]
  it('is found in any case, by its id, or by a part that only one name has', () => {
    for (const typed of ['no CODE names', 'pol_1', 'code'])
      assert.deepEqual(resolveValue(typed, options, false), { value: 'pol_1' }, typed)
  })
  it('that is not known gets near ones', () => {
    const near = (typed: string) => {
      const found = resolveValue(typed, options, false)
      return 'near' in found ? found.near.map(({ name }) => name) : []
    }
    assert.deepEqual(near('No'), ['No code names', 'No medical advice'])
    assert.deepEqual(near('Paymnet'), ['Payment data'])
    assert.deepEqual(near('zzzzzzzz'), [])
  })
  it('is taken as it is where values are not listed', () =>
    assert.deepEqual(resolveValue('ben', options, true), { value: 'ben' }))
})

describe('filters in the address', () => {
  const search = readRequestSearch({ status: 'denied', not_model: ['a', 'b'], user_id: 1002, q: 'x', min_ms: 5 })
  it('have one value or several, of which digits are a text', () => {
    assert.deepEqual(filtersIn(search), [
      { field: 'status', isNot: false, values: ['denied'] },
      { field: 'model', isNot: true, values: ['a', 'b'] },
      { field: 'user_id', isNot: false, values: ['1002'] },
    ])
    assert.deepEqual(filtersOf(search), {
      status: ['denied'],
      not_model: ['a', 'b'],
      user_id: ['1002'],
      min_ms: 5,
      q: 'x',
    })
  })
  it('get further values, and lose those that are excluded instead', () => {
    assert.deepEqual(addingValue(search, { field: 'status', isNot: false, value: 'error' }), {
      status: ['denied', 'error'],
      not_status: undefined,
    })
    assert.deepEqual(addingValue(search, { field: 'model', isNot: false, value: 'a' }), { model: 'a', not_model: 'b' })
  })
  it('are switched between is and is not', () =>
    assert.deepEqual(switching(search, { field: 'model', isNot: true, values: ['a', 'b'] }), {
      not_model: undefined,
      model: ['a', 'b'],
    }))
})
