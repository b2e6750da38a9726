import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const mostRequests = 20
const mostShift = 0.1

const listedPaths =
  'overview requests playground policies gateway models limits limits?view=limits limits?view=ledger sinks alerts audit audit?view=verify projects members settings'.split(
    ' ',
  )

/** Adds up how much of the page moved, as browsers measure it. */
const observeShifts = `window.shift = 0
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value
}).observe({ type: 'layout-shift', buffered: true })`

describe('the first paint of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  let paths: readonly string[]
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
    const id = await scene.ask('the falcon flies')
    for (let at = 0; at < 20; at++) await scene.ask('Hello')
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    await scene.post('/v1/organization/members', { name: 'Ada', email: 'ada@example.com', role: 'owner' }, admin)
    const policy = `policies/${scene.policyId}`
    paths = [...listedPaths, `requests/${id}`, policy]
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  for (const width of [1_280, 390])
    it(`needs few requests and moves nothing on any page, ${width} pixels wide`, async () => {
      for (const path of paths) {
        await using open = await openPage(browser, { viewport: { width, height: 844 } })
        const { page } = open
        await page.addInitScript(observeShifts)
        const sent: string[] = []
        page.on('request', (request) => {
          // It asks whether the server is there, again and again.
          if (!request.url().endsWith('/health/live')) sent.push(request.url())
        })
        await scene.openAt(page, `/${path}`)
        await settled(page)
        assert.ok(sent.length <= mostRequests, `${path} sent ${sent.length} requests:\n${sent.join('\n')}`)
        const shift = Number(await page.evaluate('window.shift'))
        assert.ok(shift < mostShift, `${path} moved by ${shift}`)
      }
    })

  it('keeps the place of the rule editor, which is loaded late', async () => {
    await using open = await openPage(browser, { viewport: { width: 390, height: 844 } })
    const { page } = open
    await page.addInitScript(observeShifts)
    await page.route('**/rule-editor*', async (route) => {
      await page.getByText('Evaluated as an expression.').waitFor()
      await route.continue()
    })
    await scene.openAt(page, `/policies/${scene.policyId}`)
    await page.locator('.cm-editor').waitFor()
    await settled(page)
    assert.equal(Number(await page.evaluate('window.shift')) < 0.01, true)
  })

  it('shows the frame and the places of the page before the server says who is signed in', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/policies')
    await page.getByRole('link', { name: 'No code names' }).waitFor()
    let answer = (): void => undefined
    const isAnswered = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/v1/organization/me', async (route) => {
      await isAnswered
      await route.continue()
    })
    await page.goto(`${scene.url}/console/overview`)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Requests' }).waitFor()
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Overview')
    assert.equal(await page.getByRole('status').filter({ hasText: 'Loading' }).count(), 6)
    answer()
    await page.getByRole('heading', { name: 'Health' }).waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('shows no frame to somebody who has to sign in', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await page.route('**/v1/organization/me', async (route) => {
      await page.waitForTimeout(500)
      await route.continue()
    })
    await page.goto(`${scene.url}/console/overview`)
    assert.equal(await page.getByRole('navigation').count(), 0)
    await page.getByLabel('Administrator key').waitFor()
    assert.equal(await page.title(), 'Sign in · Gatehouse')
  })
})

/** Menus are the last part that is loaded, and pages have no bones left. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Theme' }).waitFor()
  await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
  await page.waitForTimeout(500)
}
