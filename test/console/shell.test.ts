import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene } from '../support/console-scene.ts'

describe('the frame of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(async () => void (browser = await launchBrowser()))
  after(() => browser.close())

  it('waits and tries again, without a word, when it is over the limit of the server', async () => {
    await using scene = await openConsoleScene()
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    let rejected = 0
    await page.route('**/v1/organization/policies?**', async (route) => {
      if (rejected++ > 0) return route.continue()
      const error = { code: 'rate_limit_exceeded', message: 'Too many requests.' }
      return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { error } })
    })
    await page.getByRole('link', { name: 'Policies' }).click()
    await page.getByRole('link', { name: 'No code names' }).waitFor()
    assert.ok(rejected > 1)
    assert.equal(await page.getByRole('alert').count(), 0)
  })
})
