import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startTestApp, type TestApp } from '../support/app.ts'
import { launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { newLink } from '../support/console.ts'
import { freePort } from '../../scripts/test/ready.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }

describe('live figures in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(async () => void (browser = await launchBrowser()))
  after(() => browser.close())

  const signIn = async (page: Page, app: TestApp): Promise<void> => {
    await page.goto(`${app.url}/console/#start=${await newLink(app)}`)
    await page.getByRole('heading', { name: 'Health' }).waitFor()
  }
  const ask = async (app: TestApp, apiKey = app.apiKey): Promise<void> => {
    await (await app.post('/v1/messages', hello, { authorization: `Bearer ${apiKey}` })).text()
  }
  /** Sends requests until the figure of the page is not zero. */
  const seesTraffic = async (page: Page, send: () => Promise<void>): Promise<void> => {
    const rate = page.locator('dl > div', { has: page.getByText('Requests', { exact: true }) }).locator('dd')
    for (let tries = 0; tries < 200; tries++) {
      await send()
      if (!(await rate.innerText()).startsWith('0.0')) return
      await page.waitForTimeout(100)
    }
    assert.fail('the figure stayed zero')
  }

  it('share one connection between the tabs of a browser, and the next tab takes over', async () => {
    await using app = await startTestApp()
    await using open = await openPage(browser)
    const streams: string[] = []
    open.page.context().on('request', (request) => {
      if (request.url().endsWith('/overview/stream')) streams.push(request.url())
    })
    await signIn(open.page, app)
    const second = await open.page.context().newPage()
    await second.goto(`${app.url}/console/overview`)
    await seesTraffic(open.page, () => ask(app))
    await seesTraffic(second, () => ask(app))
    assert.equal(streams.length, 1)
    const takeover = second.waitForResponse((response) => response.url().endsWith('/overview/stream'))
    await open.page.close()
    await takeover
    await seesTraffic(second, () => ask(app))
    assert.equal(streams.length, 2)
    assert.deepEqual(open.errors, [])
  })

  it('continue after a restart of the server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-live-'))
    const port = await freePort()
    const options = { storage: { data_dir: folder }, config: { server: { port } } }
    const first = await startTestApp(options)
    await using open = await openPage(browser)
    const { page } = open
    await signIn(page, first)
    const { apiKey } = first
    await seesTraffic(page, () => ask(first, apiKey))
    await first[Symbol.asyncDispose]()
    await using again = await startTestApp({ ...options, isFirst: false })
    const stream = page.waitForResponse((response) => response.url().endsWith('/overview/stream') && response.ok())
    await ask(again, apiKey)
    await stream
    await seesTraffic(page, () => ask(again, apiKey))
    rmSync(folder, { recursive: true, force: true })
  })

  it('open no connection for a page that left while it got the lock', async () => {
    await using app = await startTestApp()
    await using open = await openPage(browser)
    const { page } = open
    // A browser may call back for a lock whose request was aborted meanwhile.
    await page.addInitScript(`navigator.locks.request = (name, options, callback) =>
        new Promise((resolve) => { globalThis.grantLock = () => resolve(callback()) })
      globalThis.connections = 0
      globalThis.EventSource = class extends EventSource {
        constructor(url) { super(url); globalThis.connections++ }
      }`)
    await signIn(page, app)
    await page.waitForFunction('globalThis.grantLock !== undefined') // the page paints before it asks for the lock
    await page.getByRole('link', { name: 'Members' }).click()
    // The title changes before the overview has left.
    await page.getByRole('navigation', { name: 'Sections' }).waitFor()
    await page.evaluate('globalThis.grantLock()')
    assert.equal(await page.evaluate('globalThis.connections'), 0)
    assert.deepEqual(open.errors, [])
  })

  it('count requests that came while the tab was hidden', async () => {
    await using app = await startTestApp()
    await using open = await openPage(browser)
    const { page } = open
    await signIn(page, app)
    await ask(app)
    await page.goto(`${app.url}/console/requests`)
    await page.getByRole('row').nth(1).waitFor()
    const newRequests = page.getByRole('button', { name: /\d+ new/ })
    await ask(app)
    await newRequests.waitFor()
    const show = (state: string) =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`)
    await show('hidden')
    await ask(app)
    await ask(app)
    await show('visible')
    await page.getByRole('button', { name: '3 new' }).waitFor()
    assert.deepEqual(open.errors, [])
  })
})
