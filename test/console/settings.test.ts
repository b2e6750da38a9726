import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }
const administration = { credential: many, console: many, organization: many }
const secret = 'sk-upstream-secret-of-this-test'

describe('settings in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    const upstreams = [
      // Nothing listens there, so that the call of the test fails.
      { name: 'gone', kind: 'openai-chat', base_url: 'http://127.0.0.1:9/v1', api_key: secret },
      { name: 'local', kind: 'echo' },
    ]
    const models = [
      { name: 'gatehouse-echo', targets: [{ upstream: 'local' }] },
      { name: 'lost', targets: [{ upstream: 'gone' }] },
    ]
    scene = await openConsoleScene({ config: { upstreams, models, administration } })
    await scene.ask('Hello', 'lost')
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const openSettings = async (page: Page, address = ''): Promise<void> => {
    await scene.openAt(page, `/settings${address}`)
    await page.getByRole('heading', { name: 'Installation' }).last().waitFor()
  }

  it('show in one click what is in force and what needs attention, without a secret', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByText('Embedded (SQLite)').waitFor()
    await page.getByText('upstream gone').waitFor()
    await page.getByText('gatehouse upstreams probe gone').waitFor()
    const row = page.getByRole('row', { name: /upstreams\[0\]\.api_key/ })
    await row.getByText('set, hidden').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.doesNotMatch(await page.content(), new RegExp(secret))
    assert.deepEqual(open.errors, [])
  })

  it('filter the settings, with their defaults, in the address', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openSettings(page)
    assert.equal(await page.getByRole('row', { name: /log\.level/ }).count(), 0)
    await page.getByLabel('Also defaults').check()
    await page.getByRole('row', { name: /log\.level info default/ }).waitFor()
    await page.getByLabel('Search settings').fill('retention')
    await page.waitForURL(/defaults=true/)
    await page.waitForURL(/search=retention/)
    await page.reload()
    await page.getByRole('row', { name: /audit\.retention_days 180 default/ }).waitFor()
    assert.equal(await page.getByRole('row', { name: /log\.level/ }).count(), 0)
    await page.getByLabel('Search settings').fill('no such setting')
    await page.getByText('No setting matches').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('are not shown to a key without the permission, and the page names it', async () => {
    const authorization = `Bearer ${scene.adminKey}`
    const body = { name: 'Reader', permissions: ['policies:read'] }
    const created = await scene.post('/v1/organization/admin_api_keys', body, { authorization })
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${scene.url}/console/settings`)
    await page.getByLabel('Administrator key').fill(((await created.json()) as { value: string }).value)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('You need system:read to see this.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('work in both themes, at 390 pixels, and by keyboard', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = open
      await openSettings(page)
      await page.getByText(/checks passed/).focus()
      await page.keyboard.press('Enter')
      await page.getByText('job ').first().waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    }
  })
})

describe('settings of an installation that hosts others', { skip: withoutBrowser }, () => {
  it('are for the operator, and the page names the command', async () => {
    await using browser = await launchBrowser()
    const config = { administration: { ...administration, system_visible: false } }
    await using scene = await openConsoleScene({ config })
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/settings')
    await page.getByText('Only the operator sees the settings of this installation').waitFor()
    await page.getByText('gatehouse system show').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })
})
