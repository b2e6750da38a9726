import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'
import { startPrefixProxy } from '../support/prefix-proxy.ts'

describe('the overview of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  it('shows what was decided, as a chart and as a table', async () => {
    await scene.ask('Hello')
    await scene.ask('the falcon flies')
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    // The sums are made every five seconds, and the page reads them every ten.
    await page.getByText(/^Denied 1$/).waitFor({ timeout: 30_000 })
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'As a table' }).click()
    await page.getByRole('columnheader', { name: 'Denied' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('link', { name: 'Denied', exact: true }).click()
    await page.waitForURL(/requests\?status=denied/)
    await page.getByRole('row').filter({ hasText: 'No code names' }).waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('compares every figure with the period before, and tells errors from rate limits and mistakes of callers', async () => {
    await using limited = await openConsoleScene()
    const admin = { authorization: `Bearer ${limited.adminKey}` }
    await limited.ask('Hello')
    const keyId = await callingKey(limited)
    await limited.ask('Hello', 'unknown-model')
    const override = { api_key_id: keyId, limits: { rpd: 12 } }
    const set = await fetch(`${limited.url}/v1/organization/limits/overrides`, {
      method: 'PUT',
      headers: { ...admin, 'content-type': 'application/json' },
      body: JSON.stringify(override),
    })
    assert.equal(set.status, 200, await set.text())
    for (let at = 0; at < 24; at++) await limited.ask('Hello')
    await using open = await openPage(browser)
    const { page } = open
    await limited.openAt(page, '/overview')
    const tile = (name: string) => page.locator('dl[aria-label="Figures"] > div', { hasText: name })
    await tile('Rate limited')
      .getByText(/^1[0-9]$/)
      .waitFor()
    await tile('Errors').getByText('0', { exact: true }).waitFor()
    await tile('Requests').getByText('none in the day before').waitFor()
    await tile('Errors').getByText('as in the day before').waitFor()
    await tile('p95 latency')
      .getByText(/^under \d+ ms$/)
      .waitFor()
    await page.getByText(/^Other errors 1$/).waitFor()
    const attention = page.getByRole('link', { name: /^The key .* has used 1\d\d % of its day limit; limits rejected/ })
    await attention.waitFor()
    await page.getByRole('link', { name: /^Raise the limit: / }).click()
    await page.waitForURL(new RegExp(`limits\\?view=limits&api_key_id=${keyId}`))
    await page.goBack()
    await page.getByRole('link', { name: 'Rate limited' }).click()
    await page.waitForURL(/error=rate_limit_exceeded/)
    await page.getByRole('row').filter({ hasText: 'Error' }).first().waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('names what denied, the state of upstreams and sinks, and leads to them', async () => {
    await using own = await openConsoleScene({ config: { exports: { allow_addresses: ['127.0.0.0/8'] } } })
    const admin = { authorization: `Bearer ${own.adminKey}` }
    const sink = {
      type: 'webhook',
      label: 'archive',
      config: { url: 'http://127.0.0.1:9/', secret: `whsec_${'a'.repeat(32)}` },
    }
    const created = await own.post('/api/policy-gateway/exports', sink, admin)
    assert.ok(created.ok, await created.text())
    await own.ask('the falcon flies')
    await using open = await openPage(browser)
    const { page } = open
    await own.openAt(page, '/overview')
    const card = (title: string) =>
      page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) })
    const archive = card('Health').getByRole('listitem').filter({ hasText: 'archive' })
    await archive.getByText(/^Retrying · ./).waitFor()
    await archive.getByRole('link', { name: 'archive' }).waitFor()
    await card('Health')
      .getByRole('listitem')
      .filter({ hasText: 'echo' })
      .getByText(/^(Works|Not called yet)/)
      .waitFor()
    // Decisions of policies are counted in memory first.
    await card('Denied by').getByRole('link', { name: 'No code names' }).click({ timeout: 30_000 })
    await page.waitForURL(new RegExp(`requests\\?.*policy_id=${own.policyId}`))
    await page.getByRole('row').filter({ hasText: 'No code names' }).waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('marks in the chart what came into force, with version and author, for pointer and keyboard', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/overview?range=1h')
    const mark = page.getByRole('link', { name: /^No code names, version 1, by First administrator key, / })
    await mark.waitFor()
    const card = page.getByText('No code names, version 1')
    assert.equal(await card.isVisible(), false)
    await mark.focus()
    assert.ok(await card.isVisible())
    await page.getByRole('button', { name: 'As a table' }).focus()
    assert.equal(await card.isVisible(), false)
    await mark.hover()
    assert.ok(await card.isVisible())
    assert.deepEqual(await accessibilityViolations(page), [])
    await mark.click()
    await page.waitForURL(new RegExp(`policies/${scene.policyId}/history`))
  })

  it('shows the numbers of a bar under the pointer', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.ask('Hello')
    await scene.openAt(page, '/overview?range=24h')
    await page.getByRole('img', { name: 'Decisions' }).locator('g').last().hover()
    const row = page.locator('[aria-hidden="true"] li').filter({ hasText: 'All requests' })
    await row.filter({ visible: true }).waitFor()
  })

  it('works below a path prefix of two segments, also from a deep link', async () => {
    const id = await scene.ask('the falcon flies')
    await using proxy = await startPrefixProxy(scene.url, '/team/gw')
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${proxy.url}/console/requests/${id}`)
    await page.getByLabel('Administrator key').fill(scene.adminKey)
    await page.keyboard.press('Enter')
    await page.getByText('Denied by the policy No code names (version 1).').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.waitForURL(`${proxy.url}/console/overview`)
    assert.deepEqual(open.errors, [])
  })
})

/** The key that requests of the scene are sent with. */
async function callingKey({ url, adminKey }: ConsoleScene): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${adminKey}` }
  const listed = await fetch(`${url}/v1/organization/requests`, { headers })
  return ((await listed.json()) as { data: { api_key_id: string }[] }).data[0]?.api_key_id
}
