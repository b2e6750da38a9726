import assert from 'node:assert/strict'
import test, { describe, it } from 'node:test'
import fc from 'fast-check'
import { anyFacts } from '../../../../test/support/event-facts.ts'
import { canonicalize } from './canonical.ts'
import { createEvent } from './event.ts'
import type { EventFacts } from './facts.ts'
import type { EventCode } from './kinds.ts'
import { decisions, type VerdictFacts } from './verdict.ts'

const parts = { id: 'evt_1', loggedMs: 1_700_000_000_500, productVersion: '0.1.0' }

const facts: EventFacts = {
  code: 'gateway.request.decided',
  organizationId: 'org_1',
  timeMs: 1_700_000_000_123,
  message: 'Denied a request to default-model.',
  requestId: 'req_1',
  projectId: 'proj_1',
  actor: { userId: 'ada', credentialId: 'key_1' },
  call: { method: 'POST', path: '/v1/messages', address: '192.0.2.1', userAgent: 'curl', status: 400, latencyMs: 12 },
  verdict: {
    decision: 'refuse',
    isEnforced: true,
    reasonCode: 'REFUSE_LEGAL',
    policy: { id: 'pol_1', name: 'No legal advice', version: 3 },
    direction: 'request',
    classifier: { id: 'embedded+encoder', version: '2+1', stage: 'linear_encoder_late' },
  },
  model: { provider: 'local', name: 'default-model', inputTokens: 10, outputTokens: 0 },
  content: { full: { prompt: 'may I sue my neighbour?' } },
}

const documentOf = (more: Partial<EventFacts>) => createEvent({ ...facts, ...more }, parts).document

describe('the document of a decision', () => {
  const { document } = createEvent(facts, parts)

  it('is canonical with JSON.stringify, so that appending it needs no sorting', () => {
    assert.equal(JSON.stringify(document), canonicalize(document))
  })

  it('has the id, times, organization and class that OCSF requires', () => {
    assert.equal(document.metadata.uid, 'evt_1')
    assert.equal(document.metadata.tenant_uid, 'org_1')
    assert.equal(document.metadata.correlation_uid, 'req_1')
    assert.equal(document.metadata.logged_time, 1_700_000_000_500)
    assert.equal(document.time, 1_700_000_000_123)
    assert.deepEqual(document.metadata.profiles, ['security_control', 'ai_operation', 'record_integrity'])
    assert.deepEqual(
      [document.category_uid, document.class_uid, document.activity_id, document.type_uid],
      [6, 6003, 1, 600301],
    )
  })

  it('names the policy and version that decided, and that it was applied', () => {
    const { policy } = JSON.parse(JSON.stringify(document))
    assert.deepEqual(policy, { uid: 'pol_1', name: 'No legal advice', version: '3', is_applied: true })
    assert.equal(document.unmapped.gatehouse.reason_code, 'REFUSE_LEGAL')
    assert.equal(document.is_alert, true)
  })

  it('names the classifier, its version and the stage that decided', () => {
    assert.deepEqual(document.unmapped.gatehouse['classifier'], {
      id: 'embedded+encoder',
      stage: 'linear_encoder_late',
      version: '2+1',
    })
  })

  it('never contains the text, which is in the content', () => {
    const event = createEvent(facts, parts)
    assert.ok(!JSON.stringify(event.document).includes('neighbour'))
    assert.equal(event.content?.full?.prompt, 'may I sue my neighbour?')
  })

  it('has no undefined member', () => {
    const written = JSON.parse(JSON.stringify(document))
    assert.ok(!('entity' in written))
    assert.ok(!('type' in written.policy))
  })
})

test('action, disposition and severity follow the decision', () => {
  const table: [Partial<VerdictFacts>, number, number, number][] = [
    [{ decision: 'allow' }, 1, 1, 1],
    [{ decision: 'refuse' }, 2, 2, 3],
    [{ decision: 'refuse', cause: 'always_blocked' }, 2, 2, 4],
    [{ decision: 'refuse', cause: 'quota' }, 2, 25, 3],
    [{ decision: 'escalate' }, 2, 25, 3],
    [{ decision: 'redact' }, 4, 11, 2],
    [{ decision: 'rewrite' }, 4, 11, 2],
    [{ decision: 'summary' }, 4, 11, 2],
    [{ decision: 'refuse', isEnforced: false }, 3, 17, 1],
    [{ decision: 'not_evaluated' }, 0, 27, 3],
  ]
  for (const [verdict, action, disposition, severity] of table) {
    const document = documentOf({ verdict: { decision: 'allow', isEnforced: true, ...verdict } })
    assert.deepEqual(
      [document.action_id, document.disposition_id, document.severity_id],
      [action, disposition, severity],
      JSON.stringify(verdict),
    )
  }
  assert.equal(new Set(table.map(([{ decision }]) => decision)).size, decisions.length)
})

test('every kind of event has its OCSF class and activity', () => {
  const table: [EventCode, number][] = [
    ['gateway.simulation.run', 600302],
    ['policy.created', 300401],
    ['policy.updated', 300403],
    ['policy.published', 300410],
    ['policy.paused', 300412],
    ['policy.resumed', 300413],
    ['policy.deleted', 300404],
    ['gateway.config.updated', 300403],
    ['admin.project_key.created', 600301],
    ['admin.project_key.revoked', 600304],
    ['export.dead_lettered', 600303],
  ]
  for (const [code, typeUid] of table) assert.equal(documentOf({ code }).type_uid, typeUid, code)
})

test('JSON.stringify of an event is canonical for all facts', () => {
  const everything = documentOf({
    change: { type: 'policy', id: 'pol_1', name: 'n', versionBefore: '1', changedFields: ['b', 'a'] },
    failure: { code: 'x' },
    resources: [{ uid: 'u', type: 't', name: 'n' }],
    details: { z: 1, a: { y: [{ d: 1, c: null }], b: 'x' }, resource_id: 'r' },
    model: { provider: 'p', name: 'm', finishReasons: ['end'] },
    verdict: {
      decision: 'refuse',
      isEnforced: true,
      policy: { id: 'p', name: 'n', version: 1 },
      results: [
        {
          version: 1,
          policyId: 'p',
          decision: 'allow',
          isEnforced: true,
          scoreBasisPoints: 3,
          thresholdBasisPoints: 7,
        },
      ],
      categoriesTriggered: ['b', 'a'],
      judge: 'judge-model@1f3b9c0d5e7a',
    },
  })
  assert.equal(JSON.stringify(everything), canonicalize(everything))
  const long = documentOf({ details: { z: 'x'.repeat(5_000), a: 'y' }, actor: { userId: 'half \ud800' } })
  assert.equal(JSON.stringify(long), canonicalize(long))
})

test('an event pins the judge, and the threshold of each policy that gave a score', () => {
  const own = { version: 1, decision: 'allow', isEnforced: true, thresholdBasisPoints: 7_000 } as const
  const { gatehouse } = documentOf({
    verdict: {
      decision: 'allow',
      isEnforced: true,
      judge: 'judge-model@1f3b9c0d5e7a',
      results: [
        { ...own, policyId: 'near', scoreBasisPoints: 6_999 },
        { ...own, policyId: 'zero', scoreBasisPoints: 0 },
      ],
    },
  }).unmapped
  assert.equal(gatehouse['judge'], 'judge-model@1f3b9c0d5e7a')
  assert.deepEqual(
    (gatehouse['results'] as { threshold_bp?: number }[]).map(({ threshold_bp: threshold }) => threshold),
    [7_000, undefined],
  )
})

test('only a valid IP address goes to src_endpoint.ip', () => {
  const call = { method: 'POST', path: '/v1/messages' }
  const sourceOf = (address?: string) => documentOf({ call: { ...call, address } }).src_endpoint
  for (const ip of ['192.0.2.1', '2001:db8::1']) assert.deepEqual(sourceOf(ip), { ip })
  for (const name of ['192.0.2.1:5555', '[2001:db8::1]:443', 'fe80::1%eth0', 'nonsense', 'unknown']) {
    assert.deepEqual(sourceOf(name), { name })
  }
  assert.deepEqual(sourceOf(), { name: 'unknown' })
})

test('a change names the fields and the digests of before and after', () => {
  const document = documentOf({
    code: 'policy.updated',
    change: { type: 'policy', id: 'pol_1', digestBefore: 'aa', digestAfter: 'bb', changedFields: ['rule'] },
  })
  assert.deepEqual(document.entity?.data, { digest: 'aa' })
  assert.deepEqual(document.entity_result?.data, { digest: 'bb', changed_fields: ['rule'] })
})

test('long or malformed texts of a caller become short and well formed', () => {
  const document = documentOf({
    actor: { userId: 'x'.repeat(1_000_000) },
    call: { method: 'POST', path: `/v1/${'\ud83d\ude00'.repeat(5_000)}`, userAgent: 'half \ud800 pair' },
    verdict: { decision: 'allow', isEnforced: true, categoriesTriggered: Array.from({ length: 9_999 }, () => 'c') },
  })
  const text = JSON.stringify(document)
  assert.ok(text.length < 16_000)
  assert.equal(document.actor.user?.uid.length, 1024)
  assert.ok(document.http_request?.url.path.isWellFormed())
  assert.equal(document.http_request?.user_agent, 'half \ufffd pair')
})

test('an event is small, well formed and canonical for any facts', () => {
  fc.assert(
    fc.property(anyFacts, (generated) => {
      const { document } = createEvent(generated, parts)
      assert.equal(JSON.stringify(document), canonicalize(document))
      assert.ok(isBounded(document))
    }),
  )
})

function isBounded(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= 1024 && value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return (!Array.isArray(value) || value.length <= 100) && Object.values(value).every(isBounded)
}
