import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Usage } from './events.ts'
import { plausibleUsage, usageBounds, type Sent } from './plausible-usage.ts'

const usage = (counts: Partial<Usage>): Usage => ({
  inputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
  source: 'reported',
  ...counts,
})

const sent: Sent = {
  model: { contextTokens: 1_000, maxOutputTokens: 500 },
  request: { tools: [] },
  expected: usage({ outputTokens: 0, source: 'estimated' }),
  maxOutputTokens: 20,
}

const own = { inputTokens: 10, outputTokens: 5, outputBytes: 18 }

describe('the most that a request can have used', () => {
  it('is its context, or what was sent where that is more', () => {
    assert.equal(usageBounds(sent).inputTokens, 10 * 4 + 8_192)
    assert.equal(usageBounds({ ...sent, model: { ...sent.model, contextTokens: 200_000 } }).inputTokens, 200_000)
  })

  it('is its context many times over where the upstream runs tools', () => {
    const request = { tools: [{ type: 'opaque', dialect: 'messages', raw: {} }] } as unknown as Sent['request']
    assert.equal(usageBounds({ ...sent, request }).inputTokens, 16 * (10 * 4 + 8_192))
  })

  it('is its cap and a margin, whatever cap was asked for', () => {
    assert.equal(usageBounds(sent).outputTokens, 2 * 20 + 1_024)
    assert.equal(usageBounds({ ...sent, maxOutputTokens: Number.MAX_SAFE_INTEGER }).outputTokens, 2 * 1_000 + 1_024)
  })
})

describe('a report of an upstream', () => {
  const most = { inputTokens: 1_000, outputTokens: 100, reasoningTokens: 50 }

  it('is taken as it is up to the bounds', () => {
    const full = usage({ inputTokens: 500, cacheReadTokens: 300, cacheWriteTokens: 200, outputTokens: 100 })
    assert.equal(plausibleUsage(full, most, own), full)
  })

  it('may have reasoned beyond the cap, where it says so, but not without end', () => {
    const reasoned = usage({ outputTokens: 150, reasoningTokens: 60 })
    assert.equal(plausibleUsage(reasoned, most, own), reasoned)
    assert.equal(plausibleUsage(usage({ outputTokens: 151, reasoningTokens: 1e9 }), most, own).outputTokens, 5)
  })

  it('may have written more than its cap, where we have seen as much', () => {
    const long = usage({ outputTokens: 400 })
    assert.equal(plausibleUsage(long, most, { ...own, outputBytes: 400 }), long)
  })

  it('is replaced by our own count where it cannot be true, in the part that cannot', () => {
    assert.deepEqual(plausibleUsage(usage({ inputTokens: 900, cacheReadTokens: 101 }), most, own), {
      ...usage({ inputTokens: 10, outputTokens: 5, source: 'estimated' }),
      reportedTokens: 1_006,
    })
    assert.deepEqual(plausibleUsage(usage({ outputTokens: 1e9, reasoningTokens: 7 }), most, own), {
      ...usage({ outputTokens: 5, reasoningTokens: 5, source: 'estimated' }),
      reportedTokens: 1e9 + 10,
    })
  })
})
