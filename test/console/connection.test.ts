import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene } from '../support/console-scene.ts'

describe('a server that goes away while the console is open', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(async () => void (browser = await launchBrowser()))
  after(() => browser.close())

  it('is reported within five seconds on every page, and what was loaded stays', async () => {
    const scene = await openConsoleScene()
    await scene.ask('Hello')
    await using open = await openPage(browser)
    await using other = await openPage(browser)
    await scene.openAt(open.page, '/overview')
    await scene.openAt(other.page, '/policies')
    const figure = open.page.getByText('none in the day before').first()
    await figure.waitFor()
    await other.page.getByRole('link', { name: 'No code names' }).waitFor()
    await scene[Symbol.asyncDispose]()
    const banner = (page: typeof open.page) =>
      page
        .getByRole('alert')
        .filter({ hasText: /Live view lost\. The server does not answer\. What you see is of \d\d:\d\d/ })
    await Promise.all([open.page, other.page].map((page) => banner(page).waitFor({ timeout: 5_000 })))
    // Longer than the overview is refreshed, and than failed calls are repeated.
    await open.page.waitForTimeout(16_000)
    assert.ok(await figure.isVisible())
    assert.ok(await other.page.getByRole('link', { name: 'No code names' }).isVisible())
    assert.equal(await open.page.getByText('Could not load').count(), 0)
  })

  it('does not keep pages from loading over a slow connection', async () => {
    await using scene = await openConsoleScene()
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/overview')
    await page.getByRole('heading', { name: 'Health' }).waitFor()
    // No answer at all, as far as the page can wait for one.
    await page.route(/\/health\/live/, () => {})
    await page.getByText('Live view lost.').waitFor({ timeout: 5_000 })
    await page.getByRole('link', { name: 'Policies' }).click()
    await page.getByRole('link', { name: 'No code names' }).waitFor()
  })

  it('is followed again when it is back', async () => {
    await using scene = await openConsoleScene()
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/overview')
    await page.getByRole('heading', { name: 'Health' }).waitFor()
    await page.route(/\/(v1|health)\//, (route) => route.abort())
    await page.getByText('Live view lost.').waitFor({ timeout: 5_000 })
    await scene.ask('Hello')
    await page.unroute(/\/(v1|health)\//)
    await page.getByText('Live view lost.').waitFor({ state: 'detached', timeout: 5_000 })
    await page.getByText(/^All requests 1$/).waitFor()
  })
})
