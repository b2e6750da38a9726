import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { startTestApp } from '../support/app.ts'
import { newLink } from '../support/console.ts'
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

  it('leads through the first steps, which tick by what happens, and removes its samples', async () => {
    await using fresh = await startTestApp()
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${fresh.url}/console/#start=${await newLink(fresh)}`)
    const steps = page.locator('section', { has: page.getByRole('heading', { name: 'First steps' }) })
    await steps.getByText('Waiting for the first request …').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
    await (await fresh.post('/v1/messages', body)).text()
    await steps.getByText('Received.').waitFor()
    await steps.getByRole('link', { name: 'Open the request' }).click()
    await page.getByRole('complementary', { name: 'Request', exact: true }).getByText('Timeline').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await steps.getByText('2 of 4').waitFor()
    await steps.getByRole('button', { name: 'Load sample policies' }).click()
    await steps.getByText('4 sample policies are loaded, in monitoring.').waitFor()
    await steps.getByText('3 of 4').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const list = async (): Promise<{ name: string; state: string }[]> => {
      const response = await fresh.get('/v1/organization/policies', { authorization: `Bearer ${fresh.adminKey}` })
      return ((await response.json()) as { data: { name: string; state: string }[] }).data
    }
    const loaded = await list()
    await steps.getByText(/^Start the server with OPENAI_API_KEY/).waitFor()
    assert.equal(loaded.length, 4)
    assert.ok(loaded.every(({ name, state }) => name.startsWith('Sample: ') && state === 'monitoring'))
    await steps.getByRole('button', { name: 'Remove sample policies' }).click()
    await steps.getByText('are loaded').waitFor({ state: 'detached' })
    assert.deepEqual(await list(), [])
    await steps.getByRole('button', { name: 'Hide' }).click()
    await page.reload()
    await page.getByRole('heading', { name: 'Health' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'First steps' }).count(), 0)
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
    await page.getByText('Denied by the policy No code names (version 1).').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.waitForURL(`${proxy.url}/console/overview`)
    assert.deepEqual(open.errors, [])
  })
})
