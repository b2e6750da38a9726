import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Usage } from './events.ts'
import { plausibleUsage, usageBounds, type SentRequest } from './plausible-usage.ts'

const usage = (counts: Partial<Usage>): Usage => ({
  inputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
  source: 'reported',
  ...counts,
})

const sent: SentRequest = {
  model: { contextTokens: 1_000, maxOutputTokens: 500 },
  request: { tools: [] },
  expected: usage({ outputTokens: 0, source: 'estimated' }),
  outputLimit: { tokens: 20, isExplicit: true },
}

const own = { inputTokens: 10, outputTokens: 5 }

describe('usageBounds', () => {
  it('bounds the input by the context window, or by the request if that is larger', () => {
    assert.equal(usageBounds(sent).inputTokens, 10 * 4 + 8_192)
    assert.equal(usageBounds({ ...sent, model: { ...sent.model, contextTokens: 200_000 } }).inputTokens, 200_000)
  })

  it('multiplies the input bound if the upstream runs tools', () => {
    const request = { tools: [{ type: 'opaque', dialect: 'messages', raw: {} }] } as unknown as SentRequest['request']
    assert.equal(usageBounds({ ...sent, request }).inputTokens, 16 * (10 * 4 + 8_192))
  })

  it('bounds the output by the limit plus a margin, whatever limit was requested', () => {
    assert.equal(usageBounds(sent).outputTokens, 2 * 20 + 1_024)
    assert.equal(
      usageBounds({ ...sent, outputLimit: { tokens: Number.MAX_SAFE_INTEGER, isExplicit: true } }).outputTokens,
      2 * 1_000 + 1_024,
    )
  })
})

describe('plausibleUsage', () => {
  const bounds = { inputTokens: 1_000, outputTokens: 100, heldOutputTokens: 40, reasoningTokens: 50 }

  it('returns a report within the bounds unchanged', () => {
    const full = usage({ inputTokens: 500, cacheReadTokens: 300, cacheWriteTokens: 200, outputTokens: 100 })
    assert.equal(plausibleUsage(full, bounds, own), full)
  })

  it('allows reported reasoning beyond the output limit, up to its own bound', () => {
    const reasoned = usage({ outputTokens: 150, reasoningTokens: 60 })
    assert.equal(plausibleUsage(reasoned, bounds, own), reasoned)
    assert.equal(plausibleUsage(usage({ outputTokens: 151, reasoningTokens: 1e9 }), bounds, own).outputTokens, 5)
  })

  it('allows no more output if the answer is longer than its limit', () => {
    assert.equal(plausibleUsage(usage({ outputTokens: 400 }), bounds, { ...own, outputTokens: 390 }).outputTokens, 40)
  })

  it('lowers an output that the gateway counted to what the request holds credits for', () => {
    const counted = usage({ outputTokens: 90, reasoningTokens: 60, source: 'estimated' })
    const held = { ...counted, outputTokens: 40, reasoningTokens: 40 }
    assert.deepEqual(plausibleUsage(counted, bounds, own), held)
    assert.equal(plausibleUsage(usage({ outputTokens: 90 }), bounds, own).outputTokens, 90)
  })

  it('replaces only the implausible side with the gateway’s own count', () => {
    assert.deepEqual(plausibleUsage(usage({ inputTokens: 900, cacheReadTokens: 101 }), bounds, own), {
      ...usage({ inputTokens: 10, outputTokens: 5, source: 'estimated' }),
      reportedTokens: 1_006,
    })
    assert.deepEqual(plausibleUsage(usage({ outputTokens: 1e9, reasoningTokens: 7 }), bounds, own), {
      ...usage({ outputTokens: 5, reasoningTokens: 5, source: 'estimated' }),
      reportedTokens: 1e9 + 10,
    })
  })
})
