import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Locator } from 'playwright-core'
import { launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

describe('the layout of the pages of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
    await scene.ask('Hello')
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    await scene.post('/v1/organization/members', { name: 'Ada', email: 'ada@example.com', role: 'owner' }, admin)
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  for (const width of [1_280, 390])
    it(`begins tabs, filters and tables at one edge, ${width} pixels wide`, async () => {
      await using open = await openPage(browser, { viewport: { width, height: 844 } })
      const { page } = open
      await scene.signIn(page)
      const edge = width === 390 ? 16 : 244
      for (const path of ['policies', 'members', 'projects', 'requests']) {
        await page.goto(`${scene.url}/console/${path}`)
        const firstCell = page.getByRole('row').nth(1).getByRole('cell').first()
        await firstCell.waitFor()
        assert.equal(await textStart(firstCell), edge, `${path}: first column`)
        assert.equal(await textStart(page.getByRole('columnheader').first()), edge, `${path}: head of the first column`)
        if (path !== 'requests') assert.equal(await startOf(page.locator('#page input').first()), edge, path)
      }
      for (const path of ['members', 'projects', 'audit', 'costs', 'limits', 'gateway', `policies/${scene.policyId}`]) {
        await page.goto(`${scene.url}/console/${path}`)
        const line = page.locator('#page nav').first()
        await line.waitFor()
        assert.equal(await textStart(line.getByRole('link').first()), edge, `${path}: first tab`)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, path)
      }
    })

  it('shows the whole table at 1280 pixels, also beside an open drawer', async () => {
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const name = 'No advice about doses, diagnoses and changes of medication'
    await scene.post('/v1/organization/policies', { name, rule: 'Never say "dose".' }, admin)
    const config = { url: 'https://events.security.example.com/ingest/gatehouse/production', secret: 'x'.repeat(24) }
    const sink = { type: 'webhook', label: 'Security operations of the whole company', config }
    const made = await scene.post('/api/policy-gateway/exports', sink)
    const { export: created } = (await made.json()) as { export: { id: string } }
    await using open = await openPage(browser, { viewport: { width: 1_280, height: 800 } })
    const { page } = open
    await scene.signIn(page)
    for (const path of ['policies', 'models', 'models?model=gatehouse-echo', 'sinks', `sinks/${created.id}`, 'audit']) {
      await page.goto(`${scene.url}/console/${path}`)
      await page.getByRole('table').getByRole('row').nth(1).waitFor()
      const tooWide = await page.evaluate<string[]>(
        `[...document.querySelectorAll('[role=region]:has(table)')].filter((region) => region.scrollWidth > region.clientWidth).map((region) => region.ariaLabel)`,
      )
      assert.deepEqual(tooWide, [], path)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 1_280, path)
    }
  })

  it('shows the whole text of every choice in the settings of a policy', async () => {
    await using open = await openPage(browser, { viewport: { width: 1_280, height: 800 } })
    const { page } = open
    await scene.openAt(page, `/policies/${scene.policyId}`)
    const mode = page.getByLabel('Mode')
    await mode.waitFor()
    assert.ok((await startOf(mode, 'width')) >= (await widthOfChoices(mode)))
  })

  it('shows code and its copy button side by side', async () => {
    await using open = await openPage(browser, { viewport: { width: 390, height: 844 } })
    const { page } = open
    await scene.openAt(page, '/audit?view=verify')
    const code = page.locator('pre').filter({ hasText: 'audit verify --file' })
    await code.waitFor()
    const copy = code.locator('..').getByRole('button')
    const end = (await startOf(code)) + (await startOf(code, 'width'))
    assert.ok(end <= (await startOf(copy)))
  })
})

async function startOf(element: Locator, side: 'x' | 'width' = 'x'): Promise<number> {
  const box = await element.boundingBox()
  assert.ok(box)
  return Math.round(box[side])
}

/** Where the content of an element begins, after its padding. */
const textStart = async (element: Locator): Promise<number> =>
  (await startOf(element)) +
  (await element.evaluate((node) =>
    Number.parseFloat(node.ownerDocument.defaultView?.getComputedStyle(node).paddingLeft ?? ''),
  ))

/** The width that a select needs for the longest of its options. */
const widthOfChoices = (select: Locator): Promise<number> =>
  select.evaluate((node) => {
    const free = node.cloneNode(true)
    free.style.width = 'auto'
    node.after(free)
    const { width } = free.getBoundingClientRect()
    free.remove()
    return Math.ceil(width)
  })
