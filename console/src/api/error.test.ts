import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError, errorIn, errorText, isApiError } from './error.ts'

describe('the error of a response', () => {
  it('has the code, the sentence and the field of the body', () => {
    const error = errorIn(422, { error: { code: 'invalid_value', message: 'name: is too long.', param: 'name' } })
    assert.ok(isApiError(error))
    assert.deepEqual(
      [error.status, error.code, error.message, error.param],
      [422, 'invalid_value', 'name: is too long.', 'name'],
    )
  })
  for (const body of [undefined, null, 'Bad gateway', 7, {}, { error: 'no' }, { error: { code: 1, message: {} } }])
    it(`is named by its status if the body is ${JSON.stringify(body)}`, () => {
      const { code, message, param } = errorIn(502, body)
      assert.deepEqual([code, message, param], ['http_502', 'Unknown error', undefined])
    })
})

describe('the text of an error', () => {
  it('is its message', () =>
    assert.equal(errorText(new ApiError(0, { code: 'unreachable', message: 'Not reached.' })), 'Not reached.'))
  it('is general for something that is not an error', () => assert.equal(errorText('thrown'), 'Unknown error'))
})
