import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { startTestApp } from '../support/app.ts'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { newLink } from '../support/console.ts'

describe('the first steps', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(async () => void (browser = await launchBrowser()))
  after(() => browser.close())

  it('say what Gatehouse is, tick by what happens, and remove their samples', async () => {
    await using fresh = await startTestApp()
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${fresh.url}/console/#start=${await newLink(fresh)}`)
    const steps = page.locator('section', { has: page.getByRole('heading', { name: 'First steps' }) })
    await steps.getByText('Waiting for the first request …').waitFor()
    await steps.getByText(/^Gatehouse stands between your applications and their models/).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await steps.getByRole('link', { name: 'Open the Playground' }).click()
    await page.waitForURL(/playground/)
    await page.getByRole('link', { name: 'Overview' }).click()
    await steps.getByText('0 of 3').waitFor()
    const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
    await (await fresh.post('/v1/messages', body)).text()
    await steps.getByText('Received.').waitFor()
    await steps.getByText('1 of 3').waitFor()
    await steps.getByRole('button', { name: 'Load sample policies' }).click()
    await steps.getByText('4 sample policies are loaded, in monitoring.').waitFor()
    await steps.getByText('2 of 3').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const list = async (): Promise<{ name: string; state: string }[]> => {
      const response = await fresh.get('/v1/organization/policies', { authorization: `Bearer ${fresh.adminKey}` })
      return ((await response.json()) as { data: { name: string; state: string }[] }).data
    }
    const loaded = await list()
    await steps.getByRole('link', { name: 'Add an upstream' }).waitFor()
    assert.equal(loaded.length, 4)
    assert.ok(loaded.every(({ name, state }) => name.startsWith('Sample: ') && state === 'monitoring'))
    await steps.getByRole('button', { name: 'Remove sample policies' }).click()
    await steps.getByText('are loaded').waitFor({ state: 'detached' })
    assert.deepEqual(await list(), [])
    await steps.getByRole('link', { name: 'See why it was allowed or denied' }).click()
    await page.getByRole('complementary', { name: 'Request', exact: true }).getByText('Timeline').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await steps.getByRole('button', { name: 'Hide' }).click()
    await page.reload()
    await page.getByRole('heading', { name: 'Health' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'First steps' }).count(), 0)
    assert.deepEqual(open.errors, [])
  })

  it('are shown in no browser once anybody took them, and not to those who may not take them', async () => {
    await using fresh = await startTestApp()
    const admin = { authorization: `Bearer ${fresh.adminKey}` }
    await using open = await openPage(browser)
    const { page } = open
    const reader = await fresh.post(
      '/v1/organization/admin_api_keys',
      { name: 'Reader', permissions: ['audit:read', 'policies:read'] },
      admin,
    )
    const { id: readerId } = (await reader.json()) as { id: string }
    await page.goto(`${fresh.url}/console/#start=${await newLink(fresh, readerId)}`)
    await page.getByRole('heading', { name: 'Health' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'First steps' }).count(), 0)
    const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
    await (await fresh.post('/v1/messages', body)).text()
    const policy = await fresh.post('/v1/organization/policies', { name: 'P', rule: 'cel:false' }, admin)
    const { id: policyId } = (await policy.json()) as { id: string }
    await fresh.post(`/v1/organization/policies/${policyId}/publish`, { revision: 1 }, admin)
    const upstream = { name: 'own', kind: 'openai-chat', base_url: 'http://127.0.0.1:9', api_key: 'secret' }
    await fresh.post('/v1/organization/upstreams', upstream, admin)
    await fresh.post('/v1/organization/models', { name: 'm', targets: [{ upstream: 'own', model: 'm' }] }, admin)
    await using other = await openPage(browser)
    await other.page.goto(`${fresh.url}/console/#start=${await newLink(fresh)}`)
    await other.page.getByRole('heading', { name: 'Health' }).waitFor()
    assert.equal(await other.page.getByRole('heading', { name: 'First steps' }).count(), 0)
  })
})
