import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }

describe('a request of the log in the playground', { skip: withoutBrowser }, () => {
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

  const sendAgain = async (page: Page, requestId: string): Promise<void> => {
    await scene.openAt(page, `/requests/${requestId}`)
    await page.getByRole('link', { name: 'Send again' }).click()
    await page.getByLabel('Message 1', { exact: true }).waitFor()
  }
  const sent = async (path: string, body: object): Promise<string> => {
    const response = await scene.post(path, { model: 'gatehouse-echo', ...body })
    assert.equal(response.status, 200, await response.clone().text())
    await response.text()
    return response.headers.get('x-request-id') ?? ''
  }

  it('has its model, project and format, and each message in its role without a prefix', async () => {
    const requestId = await sent('/v1/messages', {
      max_tokens: 77,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Remember the teapot\nuser: this line is mine' },
        { role: 'assistant', content: 'I do' },
        { role: 'user', content: 'Good' },
      ],
    })
    await using open = await openPage(browser)
    const { page } = open
    await sendAgain(page, requestId)
    assert.equal(await page.getByLabel('Message 1', { exact: true }).inputValue(), '')
    await page.getByRole('button', { name: 'Load its texts' }).click()
    await page.getByLabel('Message 3', { exact: true }).waitFor()
    const values = ['Message 1', 'Message 2', 'Role of message 2', 'System', 'Max output tokens', 'Model']
    assert.deepEqual(await Promise.all(values.map((label) => page.getByLabel(label, { exact: true }).inputValue())), [
      'Remember the teapot\nuser: this line is mine',
      'I do',
      'assistant',
      'Be brief.',
      '77',
      'gatehouse-echo',
    ])
    assert.equal(await page.getByLabel('Project').inputValue(), scene.projectId)
    assert.equal(await page.getByText('Not the same:').count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Send to the model', disabled: false }).click()
    await page.getByRole('log', { name: 'Response' }).getByText('Good').waitFor()
    assert.deepEqual(open.errors, [])
  })

  for (const [path, tool] of [
    ['/v1/messages', { name: 'weather', input_schema: { type: 'object' } }],
    ['/v1/responses', { type: 'function', name: 'weather', parameters: { type: 'object' } }],
    ['/v1/chat/completions', { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
  ] as const)
    it(`has the tools and parameters of ${path}`, async () => {
      const words = path === '/v1/responses' ? { input: 'Hello' } : { messages: [{ role: 'user', content: 'Hello' }] }
      const limit = path === '/v1/responses' ? { max_output_tokens: 50 } : { max_tokens: 50 }
      const requestId = await sent(path, { ...words, ...limit, tools: [tool], temperature: 0.25 })
      await using open = await openPage(browser)
      const { page } = open
      await sendAgain(page, requestId)
      await page.getByRole('button', { name: 'Load its texts' }).click()
      await page.getByText('Tools, parameters, end user and target (2)').click()
      assert.deepEqual(JSON.parse(await page.getByLabel('Tools', { exact: true }).inputValue()), [tool])
      assert.deepEqual(JSON.parse(await page.getByLabel('Other parameters').inputValue()), { temperature: 0.25 })
      assert.equal(await page.getByLabel('Max output tokens').inputValue(), '50')
      await page.getByRole('button', { name: 'Send to the model', disabled: false }).click()
      await page.getByRole('log', { name: 'Response' }).getByText('Hello').waitFor()
    })

  it('says what could not be restored', async () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    const requestId = await sent('/v1/messages', {
      max_tokens: 10,
      messages: [{ role: 'user', content: [image, { type: 'text', text: 'What is this?' }] }],
    })
    await using open = await openPage(browser)
    await sendAgain(open.page, requestId)
    await open.page.getByRole('button', { name: 'Load its texts' }).click()
    await open.page.getByText('Not the same: Images are missing.').waitFor()
    assert.equal(await open.page.getByLabel('Message 1', { exact: true }).inputValue(), 'What is this?')
  })

  it('says that the texts were not stored, and that the model is no longer offered', async () => {
    await using bare = await openConsoleScene({ config: { administration: { console: many, credential: many } } })
    const requestId = await bare.ask('Hello')
    await using open = await openPage(browser)
    await bare.openAt(open.page, `/playground?copy=${requestId}&model=gone`)
    await open.page.getByText('Its texts were not stored: write them again.').waitFor()
    await open.page.getByText('The model gone is no longer offered.').waitFor()
  })

  it('names the rule that denied it, with a link, in place of an empty response', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/playground')
    await page.getByLabel('Message 1', { exact: true }).fill('the falcon flies')
    await page.getByRole('button', { name: 'Send to the model', disabled: false }).click()
    const notice = page.getByRole('alert').filter({ hasText: 'Denied by the policy No code names (version 1).' })
    await notice.getByText('policy_blocked').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await notice.getByRole('link', { name: 'No code names' }).click()
    await page.getByRole('heading', { name: 'No code names' }).waitFor()
  })

  it('names the rule that denied its response, without the stop reason of the format', async () => {
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const policy = { name: 'No herons', rule: 'cel:text.contains("heron")', mode: 'enforcing', direction: 'response' }
    const { id } = (await (await scene.post('/v1/organization/policies', policy, admin)).json()) as { id: string }
    await scene.post(`/v1/organization/policies/${id}/publish`, { revision: 1 }, admin)
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/playground')
    await page.getByLabel('Message 1', { exact: true }).fill('Repeat: heron')
    await page.getByRole('button', { name: 'Send to the model', disabled: false }).click()
    const notice = page.getByRole('alert').filter({ hasText: 'The response was denied by the policy No herons' })
    await notice.getByRole('link', { name: 'No herons' }).waitFor()
    assert.equal(await page.getByText(/^Ended:/).count(), 0)
  })

  it('is at the top when the page opens', async () => {
    await using open = await openPage(browser, { viewport: { width: 1280, height: 720 } })
    const { page } = open
    await scene.openAt(page, '/playground')
    await page.getByLabel('Message 1', { exact: true }).waitFor()
    await page.waitForTimeout(500)
    const scrolled = await page.evaluate<number[]>(
      `[...document.querySelectorAll('*')].map((element) => element.scrollTop).filter((top) => top > 0)`,
    )
    assert.deepEqual(scrolled, [])
  })
})
