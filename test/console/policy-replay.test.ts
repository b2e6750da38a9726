import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const base = '/v1/organization/policies'

/** Scores by the number in the text, so that the curve has steps. */
const rule = 'cel:text.contains("mild") ? 0.3 : text.contains("strong") ? 0.8 : 0.0'

describe('the replay of a policy in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  let admin: { authorization: string }
  let requestId: string
  before(async () => {
    browser = await launchBrowser()
    const limits = { requests_per_minute: 10_000, concurrent_requests: 100 }
    const administration = { credential: limits, organization: limits }
    scene = await openConsoleScene({ config: { administration, audit: { content: 'full' } } })
    admin = { authorization: `Bearer ${scene.adminKey}` }
    for (const text of ['calm', 'calm', 'calm', 'calm', 'calm', 'calm', 'mild', 'mild', 'mild']) await scene.ask(text)
    requestId = await scene.ask('strong')
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  async function newPolicy(name: string): Promise<string> {
    const created = await scene.post(base, { name, rule, direction: 'request' }, admin)
    return ((await created.json()) as { id: string }).id
  }
  const open = async (page: Page, id: string): Promise<void> => {
    await scene.openAt(page, `/policies/${id}/replay`)
  }

  it('says what the draft would have denied, two clicks from the page of the policy', async () => {
    const id = await newPolicy('Replayed')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies/${id}`)
    await page.getByRole('link', { name: 'Replay' }).click()
    await page.getByText('Not replayed yet').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Replay draft' }).click()
    await page.getByText('Of 10 replayed requests the draft would newly deny 1 and newly allow 0.').waitFor()
    await page.getByText('The range has 10 requests.', { exact: true }).waitFor()
    await page.waitForURL(/backtest=bt_/)
    const examples = page.getByRole('region', { name: 'Examples' })
    await examples.getByText('8,000').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await examples.locator(`a[href*="${requestId}"]`).click()
    await page.waitForURL(new RegExp(`requests/${requestId}`))
    assert.deepEqual(view.errors, [])
  })

  it('shows what each threshold denies, and takes the chosen one over into the draft', async () => {
    const id = await newPolicy('Swept')
    await scene.post(`${base}/${id}/backtest`, {}, admin)
    await using view = await openPage(browser)
    const { page } = view
    await open(page, id)
    const slider = page.getByRole('slider', { name: 'Threshold' })
    await slider.waitFor()
    assert.equal(await slider.getAttribute('aria-valuetext'), 'At a threshold of 5,000, 10.0% are denied')
    await slider.focus()
    for (let step = 0; step < 20; step++) await page.keyboard.press('ArrowLeft')
    await page.waitForURL(/threshold=3000/)
    assert.equal(await slider.getAttribute('aria-valuetext'), 'At a threshold of 3,000, 40.0% are denied')
    await page.getByText('As a table').click()
    await page.getByRole('row').filter({ hasText: '3,000' }).getByText('4', { exact: true }).first().waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Use 3,000 in the draft' }).click()
    await page.getByText('Unsaved changes').waitFor()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Draft saved').waitFor()
    const stored = (await (await scene.get(`${base}/${id}`, admin)).json()) as {
      draft: { match_threshold_basis_points: number }
    }
    assert.equal(stored.draft.match_threshold_basis_points, 3_000)
    assert.deepEqual(view.errors, [])
  })

  it('says how many requests the range has if a limit left some out', async () => {
    const id = await newPolicy('Limited')
    await scene.post(`${base}/${id}/backtest`, { limit: 4 }, admin)
    await using view = await openPage(browser)
    await open(view.page, id)
    await view.page
      .getByText('The range has 10 requests. The newest 4 were taken, which is the limit.', { exact: true })
      .waitFor()
  })

  it('lists earlier replays, and opens one by its address', async () => {
    const id = await newPolicy('Repeated')
    const start = async (body: object): Promise<string> =>
      ((await (await scene.post(`${base}/${id}/backtest`, body, admin)).json()) as { id: string }).id
    const first = await start({ limit: 1 })
    await start({})
    await using view = await openPage(browser)
    const { page } = view
    await open(page, id)
    await page.getByText('Of 10 replayed requests').waitFor()
    await page.getByRole('region', { name: 'Replays of the last 30 days' }).getByRole('button').nth(1).click()
    await page.waitForURL(new RegExp(first))
    await page.getByText('Of 1 replayed requests').waitFor()
  })

  it('cannot be started or cancelled with a key that may only read', async () => {
    const id = await newPolicy('Only read')
    const key = { name: 'Reader', permissions: ['policies:read'] }
    const created = await scene.post('/v1/organization/admin_api_keys', key, admin)
    const { value } = (await created.json()) as { value: string }
    await using view = await openPage(browser)
    const { page } = view
    await page.goto(`${scene.url}/console/policies/${id}/replay`)
    await page.getByLabel('Administrator key').fill(value)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const start = page.getByRole('button', { name: 'Replay draft' })
    await start.waitFor()
    assert.equal(await start.isDisabled(), true)
    assert.equal(await start.getAttribute('title'), 'You need the permission policies:write.')
  })

  it('works in both themes, at 390 pixels', async () => {
    const id = await newPolicy('Small')
    await scene.post(`${base}/${id}/backtest`, {}, admin)
    for (const colorScheme of ['light', 'dark'] as const) {
      await using view = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = view
      await open(page, id)
      await page.getByRole('slider', { name: 'Threshold' }).waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    }
  })
})

describe('the replay of the sample in the console', { skip: withoutBrowser }, () => {
  it('says that there are no texts, or how many are from the sample', async () => {
    const browser = await launchBrowser()
    try {
      for (const hasSample of [false, true]) {
        const audit = hasSample ? { replay_sample: { per_hour: 3 } } : {}
        await using scene = await openConsoleScene({ config: { audit } })
        for (const text of ['calm', 'mild', 'strong', 'strong']) await scene.ask(text)
        const body = { name: 'Sampled', rule, direction: 'request' }
        const created = await scene.post(base, body, { authorization: `Bearer ${scene.adminKey}` })
        const { id } = (await created.json()) as { id: string }
        await using view = await openPage(browser)
        const { page } = view
        await scene.openAt(page, `/policies/${id}/replay`)
        await page.getByText('Not replayed yet').waitFor()
        const notice = page.getByText('so there is nothing to replay')
        assert.equal(await notice.count(), hasSample ? 0 : 1)
        await page.getByRole('button', { name: 'Replay draft' }).click()
        await page.getByText(`Of ${hasSample ? 3 : 0} replayed requests`).waitFor()
        if (!hasSample) continue
        await page.getByText('The range has 4 requests.').waitFor()
        await page.getByText('those of 3 are from the replay sample.').waitFor()
        assert.deepEqual(await accessibilityViolations(page), [])
        await scene.openAt(page, '/settings?defaults=true&search=replay_sample')
        await page.getByRole('row', { name: /audit\.replay_sample\.per_hour 3 file/ }).waitFor()
        await page.getByRole('row', { name: /audit\.replay_sample\.days 14 default/ }).waitFor()
        assert.deepEqual(view.errors, [])
      }
    } finally {
      await browser.close()
    }
  })
})
