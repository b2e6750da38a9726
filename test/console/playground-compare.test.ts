import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }
const modelOf = (name: string, output: number) => ({
  name,
  targets: [{ upstream: 'echo', model: 'gatehouse-echo' }],
  price: { input: 1, output },
})

describe('comparing in the playground', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({
      config: {
        upstreams: [{ name: 'echo', kind: 'echo' }],
        models: [modelOf('gatehouse-echo', 10), modelOf('large', 1_000)],
        policies: { judge: { model: 'large' } },
        administration: { credential: many, console: many, organization: many },
      },
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
  const send = async (page: Page, text: string, button = 'Send to the model'): Promise<void> => {
    await page.getByLabel('Message 1', { exact: true }).fill(text)
    await page.getByRole('button', { name: button, disabled: false }).click()
  }
  const cardOf = (page: Page, name: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) })
  const newPolicy = async (body: object, isPublished = false): Promise<string> => {
    const made = await scene.post('/v1/organization/policies', { mode: 'enforcing', ...body }, admin())
    const { id } = (await made.json()) as { id: string }
    if (isPublished) await scene.post(`/v1/organization/policies/${id}/publish`, { revision: 1 }, admin())
    return id
  }
  const requestCount = async (): Promise<number> => {
    const response = await scene.get('/v1/organization/requests?limit=100', admin())
    return ((await response.json()) as { data: unknown[] }).data.length
  }

  it('sends one request to two models, with answers, verdicts, tokens, cost and time beside each other', async () => {
    const countBefore = await requestCount()
    await using open = await openPage(browser, { viewport: { width: 1280, height: 900 } })
    const { page } = open
    await openPlayground(page)
    await page.getByLabel('Compare with').selectOption({ label: 'large' })
    await send(page, 'Good morning', 'Send to both models')
    const texts = []
    for (const name of ['gatehouse-echo', 'large']) {
      const card = cardOf(page, name)
      await card
        .getByRole('log', { name: `Response: ${name}` })
        .getByText('Good morning')
        .waitFor()
      await card.getByText('Tokens').waitFor()
      texts.push(await card.locator('dl').innerText())
      await card.getByText('Allow').waitFor()
    }
    assert.match(texts.join(), /Cost[\s\S]*Took[\s\S]*Cost[\s\S]*Took/)
    assert.notEqual(costIn(texts[0]), costIn(texts[1]))
    assert.equal(await requestCount(), countBefore + 2)
    const [one, other] = await Promise.all(['gatehouse-echo', 'large'].map((name) => cardOf(page, name).boundingBox()))
    assert.ok(one && other && one.y === other.y && other.x > one.x, 'the cards are side by side')
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })

  it('has an address that shows a colleague the same comparison, without the texts', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openPlayground(page, '?compare=model:large')
    await send(page, 'A private text', 'Send to both models')
    await cardOf(page, 'large').getByText('Tokens').waitFor()
    await cardOf(page, 'gatehouse-echo').getByText('Tokens').waitFor()
    await page.waitForURL(({ search }) => /[?&]request=req_/.test(search) && /[?&]request_b=req_/.test(search))
    assert.ok(!page.url().includes('private'))
    await page.reload()
    for (const name of ['gatehouse-echo', 'large']) await cardOf(page, name).getByText('Tokens').waitFor()
    assert.equal(await page.getByLabel('Compare with').inputValue(), 'model:large')
  })

  it('checks one response with the rules in force and with a draft, and names the rule that denies it', async () => {
    const id = await newPolicy({ name: 'No herons', rule: 'cel:text.contains("heron")', direction: 'response' })
    const countBefore = await requestCount()
    await using open = await openPage(browser)
    const { page } = open
    await openPlayground(page, `?compare=draft:${id}`)
    await send(page, 'Repeat: heron')
    await cardOf(page, 'In force').getByRole('log').getByText('heron').waitFor()
    const drafted = cardOf(page, 'With the draft of No herons')
    await drafted.getByText('The response was denied by the policy No herons').waitFor()
    assert.equal(await drafted.getByRole('log').count(), 0)
    assert.equal(await requestCount(), countBefore + 1)
    assert.deepEqual(await accessibilityViolations(page), [])
    await drafted.getByRole('link', { name: 'No herons' }).click()
    await page.waitForURL(new RegExp(`/policies/${id}`))
    assert.deepEqual(open.errors, [])
  })

  it('shows a denied request beside what would happen without the rule', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openPlayground(page)
    await page.getByLabel('Compare with').selectOption({ value: `without:${scene.policyId}` })
    await send(page, 'the falcon flies')
    await cardOf(page, 'In force').getByText('Denied by the policy No code names (version 1).').waitFor()
    const without = cardOf(page, 'Without No code names')
    await without.getByText('Every check allows the request. It would be sent to the model.').waitFor()
    const verdicts = page.getByRole('row', { name: /^Verdict/ }).getByRole('cell')
    // The table comes once both sides have ended.
    await verdicts.filter({ hasText: 'Allow' }).waitFor()
    assert.deepEqual(await verdicts.allTextContents(), ['Deny', 'Allow'])
  })

  it('compares the drafts of two policies', async () => {
    const one = await newPolicy({ name: 'No owls', rule: 'cel:text.contains("owl")' })
    const other = await newPolicy({ name: 'No larks', rule: 'cel:text.contains("lark")' })
    await using open = await openPage(browser)
    const { page } = open
    await openPlayground(page)
    await page.getByLabel('Compare with').selectOption({ value: `draft:${other}` })
    await page.getByLabel('Compare', { exact: true }).selectOption({ value: `draft:${one}` })
    await send(page, 'a lark')
    await cardOf(page, 'With the draft of No owls').getByText('Every check allows').waitFor()
    await cardOf(page, 'With the draft of No larks')
      .getByText(/Denied by the policy No larks/)
      .waitFor()
    assert.match(page.url(), /against=draft/)
  })

  it('does not let a rule that was not evaluated hide the verdict of the others', async () => {
    await newPolicy({ name: 'Be polite', rule: 'Answers must be polite and warm.', mode: 'monitoring' }, true)
    await using open = await openPage(browser)
    const { page } = open
    await openPlayground(page)
    await page.getByLabel('Message 1', { exact: true }).fill('Good morning')
    const verdict = page.getByRole('row', { name: /^Verdict/ })
    await verdict.getByText('Allow').waitFor()
    await verdict.getByText('1 check was not evaluated.').waitFor()
    await page.getByRole('button', { name: 'Ask the judge' }).waitFor()
    await page.getByLabel('Message 1', { exact: true }).fill('the falcon')
    await verdict.getByText('Deny').waitFor()
  })

  it('is one column on a narrow screen', async () => {
    await using open = await openPage(browser, { viewport: { width: 390, height: 844 } })
    const { page } = open
    await openPlayground(page, '?compare=model:large')
    await send(page, 'Good morning', 'Send to both models')
    const boxes = []
    for (const name of ['gatehouse-echo', 'large']) {
      await cardOf(page, name).getByText('Tokens').waitFor()
      boxes.push(await cardOf(page, name).boundingBox())
    }
    assert.equal(boxes[0]?.x, boxes[1]?.x)
    assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 390)
    assert.deepEqual(await accessibilityViolations(page), [])
  })
})

const costIn = (facts: string | undefined): string | undefined => /Cost\s+(\S+)/.exec(facts ?? '')?.[1]
