import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startAdminApp, textOf, type AdminApp, type Json } from '../../../../support/administration.ts'

describe('the reach of a checked rule', () => {
  let app: AdminApp
  before(async () => void (app = await startAdminApp()))
  after(() => app[Symbol.asyncDispose]())

  /** How much of a streamed answer was checked before any of it was sent, while a policy with this rule is enforced. */
  async function coverageWith(rule: string): Promise<unknown> {
    const content = { name: 'Enforced', rule, mode: 'enforcing', direction: 'response' }
    const id = textOf(await app.admin.post('/policies', content))
    await app.admin.post(`/policies/${id}/publish`, { revision: 1 })
    const messages = [{ role: 'user', content: 'Say something about birds.' }]
    const response = await app.post('/v1/messages', { model: 'gatehouse-echo', max_tokens: 50, stream: true, messages })
    await response.text()
    const request = await app.admin.get(`/requests/${response.headers.get('x-request-id')}`)
    await app.admin.send('DELETE', `/policies/${id}?revision=2`)
    const timeline = request['timeline'] as { step: string; detail: Json | null }[]
    return timeline.find(({ step }) => step === 'answer')?.detail?.['coverage']
  }

  for (const rule of [
    'cel:text.contains("falcon")',
    'cel:text.contains("falcon") || text.matches("con+dor")',
    'cel:text.contains("falcon") ? 1.0 : 0.0',
    'cel:!text.contains("falcon")',
    'cel:text.contains("falcon") && text.contains("condor")',
    'cel:pii["email"] > 3',
    'cel:pii["email"] == 3',
    'cel:size(text) > 10000',
    'Never mention "Project Falcon".',
  ])
    it(`of ${rule} is what a streamed answer waits for`, async () => {
      const { reach } = await app.admin.post('/policies/check', { rule })
      const { whole_text: isWhole } = reach as { whole_text: boolean }
      assert.equal(await coverageWith(rule), isWhole ? 'whole' : 'held_back')
    })
})
