import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { createDefaultErrors } from '../default-errors.ts'
import { creditReadError } from './family.ts'

const encodeError = creditReadError(createDefaultErrors(() => 'http://gateway'))

const encoded = (fault: Fault) => {
  const { status, headers, body } = encodeError(fault, 'req_1', '/v1/credits')
  return [status, (body as { error: { code: string } }).error.code, headers['retry-after']]
}

describe('a read of the credits', () => {
  it('has a code of its own if the database is unreachable', () => {
    const outage = new Fault('unavailable', 'storage_unavailable', 'The database cannot be reached.')
    assert.deepEqual(encoded(outage), [503, 'credit_balance_unavailable', '5'])
  })

  it('has the default format for all other errors', () => {
    const stopping = new Fault('unavailable', 'unavailable', 'Stopping.', { retryAfterSeconds: 9 })
    assert.deepEqual(encoded(stopping), [503, 'unavailable', '9'])
    assert.deepEqual(encoded(new Fault('auth', 'invalid_api_key', 'No.')), [401, 'invalid_api_key', undefined])
  })
})
