import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../base/fault.ts'
import type { Principal } from '../domain/identity/principal.ts'
import { LimitedFault } from '../domain/limits/limited-fault.ts'
import { createRunCounted } from './run-counted.ts'

const noLimits = { rpm: null, rpd: null, tpm: null, tpd: null, concurrent: null }
const limitStatus = { key: noLimits, project: noLimits, organization: noLimits }

function createScene() {
  const steps: string[] = []
  const runCounted = createRunCounted({
    async count() {
      steps.push('count')
      return { admitted: true, duplicate: false, atMs: 0, credits: null, limitStatus }
    },
  })
  const send = (decode: () => string) =>
    runCounted(async ({ request }) => `${request}!`, {
      principal: {} as Principal,
      signal: new AbortController().signal,
      decode() {
        steps.push('decode')
        return decode()
      },
    })
  return { steps, send }
}

describe('an operation that only counts as a request', () => {
  it('is counted before its body is decoded', async () => {
    const { steps, send } = createScene()
    assert.deepEqual(await send(() => 'hello'), { result: 'hello!', limitStatus })
    assert.deepEqual(steps, ['count', 'decode'])
  })

  it('reports the status of the limits also if its body is invalid', async () => {
    const { steps, send } = createScene()
    const invalid = (): never => {
      throw new Fault('validation', 'invalid_parameter', 'no')
    }
    await assert.rejects(send(invalid), (error) => error instanceof LimitedFault && error.limitStatus === limitStatus)
    assert.deepEqual(steps, ['count', 'decode'])
  })
})
