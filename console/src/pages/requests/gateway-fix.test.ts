import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { matchedEntries, withoutEntries } from './gateway-fix.ts'
import type { GatewayConfig } from './gateway-fix-queries.ts'

const config = {
  rules: { denylist: ['heron', 'falcon'], flagged_categories: ['hate', 'sexual'], redact: true },
} as unknown as GatewayConfig

describe('what a change of the gateway configuration takes out', () => {
  it('is what the configuration matched and still has', () => {
    const matched = { terms: ['falcon', 'gone'], categories: ['hate', 'self-harm'] }
    assert.deepEqual(matchedEntries(config, matched), [
      { kind: 'term', name: 'falcon' },
      { kind: 'category', name: 'hate' },
    ])
  })

  it('leaves the rest of the configuration as it is', () => {
    assert.deepEqual(withoutEntries(config, [{ kind: 'term', name: 'falcon' }]).rules, {
      denylist: ['heron'],
      flagged_categories: ['hate', 'sexual'],
      redact: true,
    })
    assert.deepEqual(withoutEntries(config, []), config)
  })
})
