import assert from 'node:assert/strict'
import test from 'node:test'
import { createEvent } from '../event/event.ts'
import type { EventCode } from '../event/kinds.ts'
import { passesFilter } from './sink.ts'
import type { AuditDecision } from '../event/verdict.ts'

function documentOf(code: EventCode, decision?: AuditDecision) {
  const facts = { code, organizationId: 'org_1', timeMs: 1, message: 'm' }
  const verdict = decision && { decision, isEnforced: true }
  return createEvent({ ...facts, verdict }, { id: 'evt_1', loggedMs: 1, productVersion: '0' }).document
}

test('without a filter everything passes', () => {
  assert.ok(passesFilter(documentOf('policy.created'), undefined))
  assert.ok(passesFilter(documentOf('policy.created'), {}))
})

test('event types are the first segment of the code', () => {
  const filter = { event_types: ['policy', 'admin'] } as const
  assert.ok(passesFilter(documentOf('policy.created'), filter))
  assert.ok(passesFilter(documentOf('admin.project.created'), filter))
  assert.ok(!passesFilter(documentOf('gateway.request.decided', 'refuse'), filter))
})

test('decisions limit the events that have one', () => {
  const filter = { decisions: ['refuse'] } as const
  assert.ok(passesFilter(documentOf('gateway.request.decided', 'refuse'), filter))
  assert.ok(!passesFilter(documentOf('gateway.request.decided', 'allow'), filter))
  assert.ok(passesFilter(documentOf('policy.created'), filter))
})

test('checkpoints pass every filter', () => {
  assert.ok(passesFilter(documentOf('audit.checkpoint'), { event_types: ['policy'], decisions: ['allow'] }))
})
