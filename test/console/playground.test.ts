import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { permissions } from '../../src/domain/identity/permissions.ts'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'
import { streamFrames } from '../support/paid-app.ts'
import { startUpstream } from '../support/upstream.ts'

const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }

describe('the playground of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({
      config: { audit: { content: 'full' }, administration: { credential: many, console: many, organization: many } },
    })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const admin = () => ({ authorization: `Bearer ${scene.adminKey}` })
  const openPlayground = async (page: Page, address = ''): Promise<void> => {
    await scene.openAt(page, `/playground${address}`)
    await page.getByLabel('Message 1', { exact: true }).waitFor()
  }
  /** Neither the button nor the shortcut works before the models and projects have arrived. */
  const sendByKeyboard = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Send to the model', disabled: false }).waitFor()
    await page.keyboard.press('Control+Enter')
  }
  /** The verdicts in the table of checks: in force, and with the draft. */
  const verdictsOn = (page: Page): Promise<string[]> =>
    page
      .getByRole('row', { name: /^Verdict/ })
      .getByRole('cell')
      .allTextContents()
  const newDraft = async (name: string, word: string): Promise<void> => {
    const rule = `cel:text.contains("${word}") ? 1.0 : 0.0`
    await scene.post('/v1/organization/policies', { name, rule, mode: 'enforcing' }, admin())
  }

  it('tries a text on a draft in two clicks, beside what is in force', async () => {
    await newDraft('No kestrels', 'kestrel')
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Playground' }).click()
    await page.getByLabel('Message 1', { exact: true }).fill('The kestrel is up.')
    await page.getByLabel('Compare with').selectOption({ label: 'With the draft of No kestrels' }) // the second click
    await page.getByRole('columnheader', { name: 'With the draft of No kestrels' }).waitFor()
    assert.deepEqual(await verdictsOn(page), ['Allow', 'Deny'])
    await page.getByRole('region', { name: 'Evidence' }).locator('mark').getByText('kestrel').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })

  it('sends nothing to a model for the checks', async () => {
    const countBefore = await requestCount()
    await using open = await openPage(browser)
    await openPlayground(open.page)
    await open.page.getByLabel('Message 1', { exact: true }).fill('the falcon')
    await open.page.getByRole('cell', { name: 'Deny' }).first().waitFor()
    assert.deepEqual(await verdictsOn(open.page), ['Deny'])
    assert.equal(await requestCount(), countBefore)
  })

  it('sends nothing before the models have arrived', async () => {
    await using open = await openPage(browser)
    const { page } = open
    const models = Promise.withResolvers<void>()
    await page.route('**/v1/organization/models', async (route) => {
      await models.promise
      await route.continue()
    })
    await openPlayground(page)
    await page.getByLabel('Message 1', { exact: true }).fill('Good morning')
    await page.getByRole('button', { name: 'Send to the model', disabled: true }).waitFor()
    models.resolve()
    await sendByKeyboard(page)
    await page.getByRole('log', { name: 'Response' }).getByText('Good morning').waitFor()
  })

  for (const dialect of ['messages', 'responses', 'chat']) {
    it(`streams an answer of ${dialect}, and shows its steps, events and code`, async () => {
      await using open = await openPage(browser)
      const { page } = open
      await openPlayground(page, `?dialect=${dialect}`)
      await page.getByLabel('Message 1', { exact: true }).fill('Good morning')
      await sendByKeyboard(page)
      await page.getByRole('log', { name: 'Response' }).getByText('Good morning').waitFor()
      await page.getByRole('link', { name: 'Open in Requests' }).waitFor()
      await page.waitForURL(/request=req_/)
      assert.deepEqual(await accessibilityViolations(page), [])
      await page.getByRole('link', { name: 'Verdict' }).click()
      await page.getByText('Answered by gatehouse-echo; every check allowed it.').waitFor()
      await page.getByText('Request checks').waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      await page.getByRole('link', { name: 'Events' }).click()
      await page.getByText(/Status 200, \d+ events/).waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      await page.getByRole('link', { name: 'Code' }).click()
      await page.getByText(`curl ${scene.url}/v1/`).waitFor()
      await page.getByRole('button', { name: /SDK$/ }).click()
      await page.getByText('process.env.GATEHOUSE_KEY').waitFor()
      await page.getByRole('button', { name: /for Python$/ }).click()
      await page.getByText('stream=True').waitFor()
      assert.deepEqual(await accessibilityViolations(page), [])
      assert.deepEqual(open.errors, [])
    })
  }

  it('shows an answer in one piece, with a system text, turns and tools', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openPlayground(page)
    await page.getByLabel('Stream the response').uncheck()
    await page.getByLabel('System').fill('Be brief.')
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Add message' }).click()
    await page.getByLabel('Message 2', { exact: true }).fill('Hello to you')
    await page.getByRole('button', { name: 'Add message' }).click()
    await page.getByLabel('Message 3', { exact: true }).fill('Third')
    await page.getByRole('button', { name: 'Remove message 2' }).click()
    await page.getByText('Tools, parameters, end user and target').click()
    await page.getByLabel('Tools', { exact: true }).fill('{')
    await page.getByRole('alert').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Send to the model' }).isDisabled())
    await page.getByLabel('Tools', { exact: true }).fill('[{"name": "look_up", "input_schema": {"type": "object"}}]')
    await page.getByText('curl and command line').first().click()
    await page.getByText('"system":"Be brief."').waitFor()
    await page.getByText('"name":"look_up"').waitFor()
    await page.getByRole('button', { name: 'Send to the model' }).click()
    await page.getByRole('log', { name: 'Response' }).getByText('Third').waitFor()
    assert.match(page.url(), /stream=false/)
    assert.ok(!page.url().includes('Third'), 'texts stay out of the address')
    assert.deepEqual(open.errors, [])
  })

  const tools: readonly (readonly [dialect: string, tool: object])[] = [
    ['messages', { name: 'weather', input_schema: { type: 'object' } }],
    ['responses', { type: 'function', name: 'weather', parameters: { type: 'object' } }],
    ['chat', { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
  ]
  for (const [dialect, tool] of tools) {
    for (const stream of [true, false]) {
      it(`shows the call of a tool in ${dialect}, ${stream ? 'streamed' : 'in one piece'}`, async () => {
        await using open = await openPage(browser)
        const { page } = open
        await openPlayground(page, `?dialect=${dialect}&stream=${stream}`)
        await page.getByText('Tools, parameters, end user and target').click()
        await page.getByLabel('Tools', { exact: true }).fill(JSON.stringify([tool]))
        await page.getByLabel('Message 1', { exact: true }).fill('call weather {"city":"Rome"} please')
        await sendByKeyboard(page)
        const answer = page.getByRole('log', { name: 'Response' })
        await answer.getByText('Calls weather').waitFor()
        await answer.getByText('{"city":"Rome"}').waitFor()
        assert.deepEqual(open.errors, [])
      })
    }
  }

  it('shows markup in texts and answers as text', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openPlayground(page)
    const markup = '<img src=x onerror="document.title=1"> <b>bold</b>'
    await page.getByLabel('Message 1', { exact: true }).fill(markup)
    await sendByKeyboard(page)
    const answer = page.getByRole('log', { name: 'Response' })
    await answer.getByText('<b>bold</b>').waitFor()
    assert.equal(await answer.locator('img, b').count(), 0)
    assert.deepEqual(open.errors, [])
  })

  it('keeps what was typed when the session ends', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openPlayground(page)
    await page.getByLabel('Message 1', { exact: true }).fill('A long text')
    await page.getByRole('button', { name: 'Send to the model', disabled: false }).waitFor()
    await page.context().clearCookies()
    // A request in the background may open the dialog first, which would keep the pointer from the button.
    await page.getByRole('button', { name: 'Send to the model' }).dispatchEvent('click')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Administrator key').fill(scene.adminKey)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await page.getByLabel('Message 1', { exact: true }).inputValue(), 'A long text')
    await page.getByRole('button', { name: 'Send to the model' }).click()
    await page.getByRole('log', { name: 'Response' }).getByText('A long text').waitFor()
  })

  for (const late of ['playground', 'evaluate']) {
    it(`does not ask again because ${late} answers late to what was sent before the new sign-in`, async () => {
      await using open = await openPage(browser)
      const { page } = open
      await openPlayground(page)
      await page.getByLabel('Message 1', { exact: true }).fill('A long text')
      await page.getByRole('button', { name: 'Send to the model', disabled: false }).waitFor()
      await page.context().clearCookies()
      const [isSignedIn, isAnswered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      await page.route(`**/v1/organization/${late}`, async (route) => {
        const response = await route.fetch()
        if (response.status() === 401) await isSignedIn.promise
        await route.fulfill({ response }).catch(() => undefined) // the page may have cancelled the call
        isAnswered.resolve()
      })
      const isEvaluated = page.waitForRequest('**/v1/organization/evaluate')
      await page.evaluate(inputOf('Another text'))
      await isEvaluated
      await page.getByRole('button', { name: 'Send to the model' }).dispatchEvent('click')
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Administrator key').fill(scene.adminKey)
      await page.keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
      isSignedIn.resolve()
      await isAnswered.promise
      await page.getByRole('button', { name: 'Send to the model', disabled: false }).click()
      await page.getByRole('log', { name: 'Response' }).getByText('Another text').waitFor()
      assert.equal(await dialog.count(), 0)
    })
  }

  it('stops an answer, which ends the call of the upstream', async () => {
    await using upstream = await startUpstream((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      response.write(streamFrames(['It is mild in May, with some rain and a few warm days.'])[0])
    })
    await using slow = await openConsoleScene({
      config: {
        upstreams: [{ name: 'slow', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
        models: [{ name: 'slow', targets: [{ upstream: 'slow' }] }],
        administration: { credential: many, console: many, organization: many },
      },
    })
    await using open = await openPage(browser)
    const { page } = open
    await slow.openAt(page, '/playground')
    await page.getByLabel('Message 1', { exact: true }).fill('What is the weather like in May?')
    await page.getByRole('button', { name: 'Send to the model' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    while (upstream.requests.length === 0) await page.waitForTimeout(50)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText(/stopped by you/).waitFor()
    assert.equal(await upstream.requests[0]?.hungUp, true)
    await page.getByRole('button', { name: 'Send to the model' }).waitFor()
  })

  const openWithout = async (page: Page, ...lacking: readonly string[]): Promise<void> => {
    const held = permissions.filter((each) => each !== '*' && !lacking.includes(each))
    const created = await scene.post('/v1/organization/admin_api_keys', { name: 'Reader', permissions: held }, admin())
    const { value } = (await created.json()) as { value: string }
    await page.goto(`${scene.url}/console/playground`)
    await page.getByLabel('Administrator key').fill(value)
    await page.keyboard.press('Enter')
  }

  it('says what a key lacks, and sends nothing with it', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openWithout(page, 'playground:use')
    await page.getByText(/permission playground:use/).waitFor()
    await page.getByLabel('Message 1', { exact: true }).fill('Hello')
    assert.ok(await page.getByRole('button', { name: 'Send to the model' }).isDisabled())
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('says what its checks need', async () => {
    await using open = await openPage(browser)
    await openWithout(open.page, 'gateway:read')
    await open.page.getByText(/permissions policies:read and gateway:read/).waitFor()
  })

  it('is not shown to a key that may neither send nor check', async () => {
    await using open = await openPage(browser)
    await openWithout(open.page, 'playground:use', 'gateway:read')
    await open.page.getByText('You need playground:use or gateway:read to see this.').waitFor()
  })

  it('fits a narrow screen', async () => {
    await using open = await openPage(browser, { viewport: { width: 390, height: 844 } })
    const { page } = open
    await openPlayground(page)
    await page.getByLabel('Message 1', { exact: true }).fill('the falcon')
    await page.getByRole('cell', { name: 'Deny' }).first().waitFor()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(width <= 390, `the page is ${width} px wide`)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  async function requestCount(): Promise<number> {
    const response = await scene.get('/v1/organization/requests?limit=100', admin())
    return ((await response.json()) as { data: unknown[] }).data.length
  }
})

/** `fill` types into what has the focus, and a dialog that opens meanwhile takes it. */
const inputOf = (text: string): string => `{
  const area = document.querySelector('[role=group] textarea')
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(area, ${JSON.stringify(text)})
  area.dispatchEvent(new Event('input', { bubbles: true }))
}`
