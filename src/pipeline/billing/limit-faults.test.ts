import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Rejected } from '../../domain/limits/admission.ts'
import { insufficientCredits } from './limit-faults.ts'

const nothing = { rpm: null, rpd: null, tpm: null, tpd: null, concurrent: null }
const refused: Rejected = {
  admitted: false,
  atMs: 0,
  reason: 'credits',
  scope: 'organization',
  retryAfterMs: null,
  credits: null,
  standing: { key: nothing, project: nothing, organization: nothing },
}

const said = (neededCredits: number, remainingCredits: number): string =>
  insufficientCredits({ neededMicro: neededCredits * 1e6, remainingMicro: remainingCredits * 1e6, refused }).message

describe('a refusal for want of credits', () => {
  it('names what the request may cost and what is left', () => {
    assert.equal(said(18, 10), 'This request may cost 18 credits; 10 are left.')
  })

  it('does not say that there are enough: what is left is then held by requests under way', () => {
    assert.equal(said(18, 82), 'This request may cost 18 credits; of the 82 left, requests under way hold too many.')
  })
})
