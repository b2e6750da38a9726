import assert from 'node:assert/strict'
import { appendToChain, startOfChain } from '../../src/domain/audit/chain/chain.ts'
import { withContent } from '../../src/domain/audit/event/content.ts'
import type { ChainedDocument } from '../../src/domain/audit/event/document.ts'
import { createEvent } from '../../src/domain/audit/event/event.ts'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import { readChained } from '../../src/domain/audit/chain/chained-event.ts'

export const testTimeMs = Date.UTC(2026, 7, 23, 10, 15, 0, 123)

type Wanted = {
  readonly count: number
  readonly facts?: Partial<EventFacts>
  /** Milliseconds between two events. */
  readonly stepMs?: number
  /** Length of the prompt text in every event. */
  readonly promptLength?: number
}

/** Chained documents as the sender passes them to a sink. */
export function auditDocuments({ count, facts = {}, stepMs = 1, promptLength = 0 }: Wanted): ChainedDocument[] {
  const documents = Array.from({ length: count }, (_, at) => {
    const timeMs = testTimeMs + at * stepMs
    return createEvent(
      { ...decided, timeMs, message: `event ${at}`, ...facts },
      { id: `evt_${String(at).padStart(6, '0')}`, loggedMs: timeMs + 5, productVersion: '0.1.0' },
    ).document
  })
  const { rows } = appendToChain(startOfChain('org_1'), documents, 'installation')
  const content = { full: { prompt: 'p'.repeat(promptLength) } }
  return rows.map((row) => {
    const sealed = readChained(row.body)
    assert.ok(sealed)
    return promptLength > 0 ? withContent(sealed, content, 'full') : sealed
  })
}

const decided: Omit<EventFacts, 'timeMs' | 'message'> = {
  code: 'gateway.request.decided',
  organizationId: 'org_1',
  requestId: 'req_1',
  projectId: 'proj_1',
  actor: { userId: 'ada', credentialId: 'key_1' },
  call: { method: 'POST', path: '/v1/messages', address: '192.0.2.7', userAgent: 'curl/8', status: 400 },
  verdict: {
    decision: 'refuse',
    isEnforced: true,
    reasonCode: 'REFUSE_LEGAL',
    policy: { id: 'pol_1', name: 'No legal advice', version: 3 },
  },
  model: { provider: 'local', name: 'default-model', inputTokens: 7, outputTokens: 0 },
}
