import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const base = '/v1/organization/policies'

describe('the rollout of a policy in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  let admin: { authorization: string }
  let id: string
  before(async () => {
    browser = await launchBrowser()
    const limits = { requests_per_minute: 10_000, concurrent_requests: 100 }
    scene = await openConsoleScene({ config: { administration: { credential: limits, organization: limits } } })
    admin = { authorization: `Bearer ${scene.adminKey}` }
    const rule = 'cel:text.contains("heron")'
    const created = await scene.post(base, { name: 'Herons', rule, direction: 'request' }, admin)
    id = ((await created.json()) as { id: string }).id
    await scene.post(`${base}/${id}/publish`, { revision: 1 }, admin)
    for (const text of ['heron', 'sparrow', 'heron', 'finch']) await scene.ask(text)
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const open = async (page: Page, path: string): Promise<void> => {
    await scene.openAt(page, path)
  }

  it('shows in the list how often each policy matched', async () => {
    await using view = await openPage(browser)
    const { page } = view
    await open(page, '/policies')
    const row = page.getByRole('row').filter({ hasText: 'Herons' })
    await row.getByTitle('2 of 4 requests matched in the last 24 hours').waitFor()
    await row.getByText('All projects').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(view.errors, [])
  })

  it('goes from monitoring to enforcing in three clicks, with what it would have denied in sight', async () => {
    await using view = await openPage(browser)
    const { page } = view
    await open(page, `/policies/${id}`)
    await page.getByRole('link', { name: 'Rollout' }).click()
    await page.getByText('In the last 7 days it would have denied 2 of 4 requests (50.0%).').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Enforce' }).click()
    const dialog = page.getByRole('dialog', { name: 'Enforce Herons' })
    await dialog.getByText('Matches are denied').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Enforce as v2' }).click()
    await page.getByText('This version has seen no requests in the last 7 days.').waitFor()
    const stored = (await (await scene.get(`${base}/${id}`, admin)).json()) as { state: string }
    assert.equal(stored.state, 'enforcing')
    await scene.ask('one more heron')
    await page.reload()
    await page.getByText('In the last 7 days it denied 1 of 1 requests (100.0%).').waitFor()
    const rows = page.getByRole('region', { name: 'Matches by version' })
    await rows.getByRole('row').filter({ hasText: 'v1' }).getByText('2 (50.0%)').first().waitFor()
    await rows.getByRole('row').filter({ hasText: 'v2' }).getByText('1 (100.0%)').first().waitFor()
    assert.deepEqual(view.errors, [])
  })

  it('leaves a draft with other changes alone', async () => {
    const created = await scene.post(base, { name: 'Drafted', rule: 'cel:text.contains("stork")' }, admin)
    const { id: drafted } = (await created.json()) as { id: string }
    await scene.post(`${base}/${drafted}/publish`, { revision: 1 }, admin)
    const headers = { ...admin, 'content-type': 'application/json' }
    const body = JSON.stringify({ revision: 2, rule: 'cel:true' })
    await fetch(`${scene.url}${base}/${drafted}`, { method: 'PATCH', headers, body })
    await using view = await openPage(browser, { viewport: { width: 390, height: 844 } })
    const { page } = view
    await open(page, `/policies/${drafted}/rollout`)
    const enforce = page.getByRole('button', { name: 'Enforce' })
    await enforce.waitFor()
    assert.equal(await enforce.isDisabled(), true)
    await page.getByText('The draft has other changes.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  })

  it('cannot be changed with a key that may only read', async () => {
    const key = { name: 'Reader', permissions: ['policies:read'] }
    const created = await scene.post('/v1/organization/admin_api_keys', key, admin)
    const { value } = (await created.json()) as { value: string }
    await using view = await openPage(browser, { colorScheme: 'dark' })
    const { page } = view
    await page.goto(`${scene.url}/console/policies/${scene.policyId}/rollout`)
    await page.getByLabel('Administrator key').fill(value)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const back = page.getByRole('button', { name: 'Back to monitoring' })
    await back.waitFor()
    assert.equal(await back.isDisabled(), true)
    await page.getByText('You need the permissions policies:write and policies:publish.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })
})
