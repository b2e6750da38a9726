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
    assert.deepEqual(open.errors, [])
  })

  it('works below a path prefix of two segments, also from a deep link', async () => {
    const id = await scene.ask('the falcon flies')
    await using proxy = await startPrefixProxy(scene.url, '/team/gw')
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${proxy.url}/console/requests/${id}`)
    await page.getByLabel('Administrator key').fill(scene.adminKey)
    await page.keyboard.press('Enter')
    await page.getByText('Denied by No code names.').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.waitForURL(`${proxy.url}/console/overview`)
    assert.deepEqual(open.errors, [])
  })
})
