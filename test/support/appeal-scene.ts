import assert from 'node:assert/strict'
import { startAdminApp, textOf, type Admin, type AdminApp, type Answer, type Json } from './administration.ts'
import type { TestAppOptions } from './app.ts'

/** A server whose policy denies the word `falcon`, and people who appeal and review. */
export type AppealScene = AdminApp & {
  readonly policyId: string
  /** Sends a text, and returns the response. */
  ask(text: string, key?: string): Promise<{ readonly status: number; readonly body: Json; readonly requestId: string }>
  /** Sends a text that is denied, and returns its `policy` object. */
  deny(text?: string, key?: string): Promise<Json>
  /** Appeals a decision with a key of a project. */
  appeal(eventId: string, note?: string, key?: string): Promise<Answer>
  decision(eventId: string): Promise<Json>
  /** A further person who may review. */
  reviewer(): Promise<Admin>
}

export const rule = 'cel:text.contains("falcon")'

export async function openAppealScene({ config = {}, ...options }: TestAppOptions = {}): Promise<AppealScene> {
  const app = await startAdminApp({
    ...options,
    config: { audit: { content: 'full' }, ...config },
  })
  const created = app.adminKey === '' ? {} : await createPolicy(app.admin)
  const ask: AppealScene['ask'] = async (text, key = app.apiKey) => {
    const body = { model: 'gatehouse-echo', max_tokens: 50, messages: [{ role: 'user', content: text }] }
    const response = await app.post('/v1/messages', body, { authorization: `Bearer ${key}` })
    const requestId = response.headers.get('x-request-id') ?? ''
    return { status: response.status, body: (await response.json()) as Json, requestId }
  }
  return {
    ...app,
    policyId: String(created['id']),
    ask,
    async deny(text = 'A falcon is a bird of prey.', key = app.apiKey) {
      const { status, body } = await ask(text, key)
      assert.equal(status, 400, JSON.stringify(body))
      return body['policy'] as Json
    },
    async appeal(eventId, note = 'A falcon is a bird.', key = app.apiKey) {
      const headers = { authorization: `Bearer ${key}` }
      const response = await app.post(`/v1/decisions/${eventId}/appeal`, { note }, headers)
      return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
    },
    async decision(eventId) {
      const response = await app.get(`/v1/decisions/${eventId}`)
      assert.equal(response.status, 200)
      return (await response.json()) as Json
    },
    reviewer: () => app.adminWith(['reviews:read', 'reviews:write', 'content:read', 'policies:read', 'audit:read']),
  }
}

async function createPolicy(admin: Admin): Promise<Json> {
  const policy = await admin.post('/policies', { name: 'No code names', rule, mode: 'enforcing', direction: 'request' })
  await admin.post(`/policies/${textOf(policy)}/publish`, { revision: 1 })
  return policy
}
